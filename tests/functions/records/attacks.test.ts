// Bodies of 16 KB, which are 16 MiB inflated, from a caller who may only read.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const PROGRAM = new URL('attacked.ts', import.meta.url).pathname;

const TOO_MANY = '413 too_large: the body holds more than 1048576 values: send fewer at once';
const TOO_DEEP = /^400 malformed: operations.0: the value is nested deeper than/;

test('a process with 64 MiB of heap refuses each of these bodies', { timeout: 120_000 }, async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--max-old-space-size=64', PROGRAM]);
  expect(JSON.parse(stdout)).toEqual({
    'maps in an unknown member': '400 invalid: body: unknown member "x"; known: operations, atomic',
    'maps in a value': TOO_MANY,
    'levels in a value': expect.stringMatching(TOO_DEEP),
    'objects in a value': TOO_MANY,
    'a key': '413 too_large: a text exceeds 4194304 bytes: send less',
    health: '200',
  });
});

// Runs the TypeScript compiler.
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';

const TSC_TIMEOUT_MS = 120_000;

const tsc = path.join(path.dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');

/** Rejects with what it prints. */
export async function runTsc(...args: readonly string[]): Promise<void> {
  await promisify(execFile)(process.execPath, [tsc, ...args], { timeout: TSC_TIMEOUT_MS });
}

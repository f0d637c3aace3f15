// Random messages and altered good ones: every one is answered, none with INTERNAL, and the server
// still works. A failure prints its seed.
import { createRequire } from 'node:module';
import { credentials, makeGenericClientConstructor, Metadata, type ServiceError } from '@grpc/grpc-js';
import protobuf from 'protobufjs/light.js';
import { afterAll, expect, test } from 'vitest';
import { RPCS } from '../../../../infra/emulators/datastore/calls.ts';
import { startDatastoreEmulator } from '../../../../infra/emulators/datastore/index.ts';
import { seededRandom } from '../../../../shared/lab/kit/random.ts';

/**
 * At least so long and so many messages, however busy the machine is; but no longer than the second
 * time.
 */
const MESSAGES = 3_000;
const IN_FLIGHT = 16;
const DEPTH_MAX = 6;

const json = createRequire(import.meta.url)('@google-cloud/datastore-api/build/protos/protos.json') as object;
const root = protobuf.Root.fromJSON(structuredClone(json));
root.resolveAll();

const emulator = await startDatastoreEmulator();
const Client = makeGenericClientConstructor({}, 'Datastore');
const client = new Client(emulator.address, credentials.createInsecure());
afterAll(async () => {
  client.close();
  await emulator.close();
});

type Random = (below: number) => number;

const TEXTS = ['', 'p', 'K', '__key__', '__x__', 'a.b', 'a\\', '\0', 'é', 'x'.repeat(1_501)];

function scalar(type: string, random: Random): unknown {
  if (type === 'string') return TEXTS[random(TEXTS.length)];
  if (type === 'bytes') return Buffer.from(Array.from({ length: random(20) }, () => random(256)));
  if (type === 'bool') return random(2) === 1;
  if (type === 'double' || type === 'float') return [0, -1.5, Number.NaN, Infinity, 91][random(5)];
  return [0, 1, -1, 5, 2 ** 31 - 1, -(2 ** 31)][random(6)];
}

function message(type: protobuf.Type, random: Random, depth: number): Record<string, unknown> {
  const content: Record<string, unknown> = {};
  for (const field of type.fieldsArray) {
    if (random(3) === 0 || (depth >= DEPTH_MAX && field.resolvedType instanceof protobuf.Type)) continue;
    const one = () => {
      if (field.resolvedType instanceof protobuf.Type) return message(field.resolvedType, random, depth + 1);
      return field.resolvedType === null ? scalar(field.type, random) : random(7);
    };
    if (field.map)
      content[field.name] = Object.fromEntries(Array.from({ length: random(3) }, () => [TEXTS[random(9)], one()]));
    else content[field.name] = field.repeated ? Array.from({ length: random(3) }, one) : one();
  }
  // Most messages should get beyond the first check.
  if (depth === 0 && random(10) > 0) Object.assign(content, { projectId: 'p', databaseId: '' });
  return content;
}

function mutated(bytes: Buffer, random: Random): Buffer {
  const changed = Buffer.from(bytes);
  for (let count = random(4); count > 0 && changed.length > 0; count -= 1)
    changed[random(changed.length)] = random(256);
  return random(8) === 0 ? changed.subarray(0, random(changed.length + 1)) : changed;
}

const asIs = (content: Buffer) => content;

function call(rpc: string, bytes: Buffer): Promise<ServiceError | undefined> {
  return new Promise((resolve) => {
    const deadline = { deadline: Date.now() + 60_000 };
    client.makeUnaryRequest(
      `/google.datastore.v1.Datastore/${rpc}`,
      asIs,
      asIs,
      bytes,
      new Metadata(),
      deadline,
      (error) => resolve(error ?? undefined),
    );
  });
}

test('no message finds a bug, and the server lives on', async () => {
  const seed = Date.now() % 2 ** 31;
  const draw = seededRandom(seed);
  const random: Random = (below) => Math.floor(draw() * below);
  const bugs: string[] = [];
  let sent = 0;
  const codes = new Map<number, number>();
  const fuzz = async () => {
    while (sent < MESSAGES) {
      sent += 1;
      const rpc = RPCS[random(RPCS.length)]!;
      const type = root.lookupType(`google.datastore.v1.${rpc}Request`);
      const made = Buffer.from(type.encode(message(type, random, 0)).finish());
      const bytes = random(2) === 0 ? made : mutated(made, random);
      const error = await call(rpc, bytes);
      codes.set(error?.code ?? 0, (codes.get(error?.code ?? 0) ?? 0) + 1);
      if (error !== undefined && ![3, 5, 6, 8, 9, 10, 12].includes(error.code))
        bugs.push(`seed ${seed} ${rpc} ${bytes.toString('base64')}: ${error.code} ${error.details}`);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, fuzz));
  expect(bugs.slice(0, 3)).toEqual([]);
  // Otherwise only the first check of each call would have been tried.
  expect(codes.get(0)).toBeGreaterThan(MESSAGES / 50);
  expect(codes.get(3)).toBeGreaterThan(MESSAGES / 50);
});

test('random bytes that are no message are INVALID_ARGUMENT', async () => {
  for (const rpc of RPCS) {
    expect(await call(rpc, Buffer.from([0x0f, 0xff, 0xff]))).toMatchObject({ code: 3 });
  }
});

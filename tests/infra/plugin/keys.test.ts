// `serverless keys`: what callers have to send while keys are changed, and after a change that was
// broken off at any of its steps.
import { beforeEach, describe, expect, test } from 'vitest';
import { changeKeys, countOf, keyOwner, type KeysOptions, nextKeys } from '../../../infra/plugin/commands/keys.ts';
import { deploy } from '../../../infra/plugin/commands/deploy.ts';
import { type Context, Interrupted } from '../../../infra/plugin/context/deploy-context.ts';
import { failureOf, type Machine, startMachine } from './stand-ins/machine.ts';

const ROLES = ['read', 'write', 'admin', 'compare'] as const;
const CLOUDS = ['gcp', 'azure'] as const;
/** The calls that change something. */
const CHANGE = /^(gcloud secrets versions add|gcloud run|az keyvault secret set|az rest --method post)/;
const ADD: KeysOptions = { step: 'add' };
const RETIRE: KeysOptions = { step: 'retire' };
let machine: Machine;

beforeEach(async () => {
  machine = await startMachine();
  await deploy(machine.contextOf(), { isPlanOnly: false });
  machine.taken();
  machine.said.length = 0;
});

const rolesOf = (which: 'written' | 'read') =>
  CLOUDS.flatMap((cloud) =>
    ROLES.map((role) => {
      const found = machine.deployed.secrets[cloud][which].get(role)!;
      return (typeof found === 'string' ? found : found[0]!).split(',');
    }),
  );

/** Does `step` at each call that changes something, before it and after it. */
function watching(context: Context, step: (at: number, isDone: boolean) => void): Context {
  let at = 0;
  const run: Context['run'] = async (tool, args, options) => {
    if (!CHANGE.test([tool, ...args].join(' '))) return await context.run(tool, args, options);
    step(++at, false);
    const ended = await context.run(tool, args, options);
    step(at, true);
    return ended;
  };
  return { ...context, run };
}

/** Interrupts a change at one of the calls that change something, before it or after it. */
async function brokenOff(context: Context, [wanted, isAfter]: readonly [number, boolean], options: KeysOptions) {
  const interrupted = watching(context, (at, isDone) => {
    if (at === wanted && isDone === isAfter) throw new Interrupted('a tool was interrupted');
  });
  await expect(changeKeys(interrupted, options)).rejects.toThrow(Interrupted);
}

test('a new key of each role goes in beside the present one, and the older one out in a step of its own', async () => {
  const first = rolesOf('read').map(([key]) => key);
  await changeKeys(machine.contextOf(), ADD);
  for (const [index, keys] of rolesOf('read').entries())
    expect(keys).toEqual([expect.stringMatching(/^[\w-]{32}$/), first[index]]);
  const newest = rolesOf('read').map(([key]) => key);
  expect(await failureOf(changeKeys(machine.contextOf(), ADD))).toContain('two keys of each role');
  await changeKeys(machine.contextOf(), RETIRE);
  expect(rolesOf('read')).toEqual(newest.map((key) => [key]));
  expect(await failureOf(changeKeys(machine.contextOf(), RETIRE))).toContain('none to retire');
});

test('a change of keys runs no Terraform, and shows no key in arguments or lines', async () => {
  await changeKeys(machine.contextOf(), ADD);
  const calls = machine.taken();
  expect(calls.filter((call) => /^terraform \w+ (plan|apply)|config appsettings|config-zip/.test(call))).toEqual([]);
  const everything = [...calls, ...machine.said].join('\n');
  for (const key of rolesOf('read').flat()) expect(everything).not.toContain(key);
});

test('no request of the older key is refused while another goes in, nor of the newer while that goes out', async () => {
  const answers: Promise<number>[] = [];
  const asking = (which: number) =>
    watching(machine.contextOf(), () => {
      for (const cloud of CLOUDS)
        answers.push(statusOf(cloud, machine.deployed.secrets[cloud].read.get('write')!, which));
    });
  await changeKeys(asking(-1), ADD);
  await changeKeys(asking(0), RETIRE);
  expect(answers.length).toBeGreaterThan(40);
  expect(new Set(await Promise.all(answers))).toEqual(new Set([200]));
});

describe.each([
  ['add', ADD, 2],
  ['retire', RETIRE, 1],
] as const)('--%s, broken off', (name, options, wanted) => {
  beforeEach(async () => {
    if (name === 'retire') await changeKeys(machine.contextOf(), ADD);
  });

  // Of each cloud: a call for each of four secrets, and one for each of two functions. What is left
  // after a call is what is left before the next.
  const steps = Array.from({ length: 12 }, (_, index) => [index + 1, false] as const);
  test.each([...steps, [steps.length, true] as const])(
    'at call %d (after it: %s), is ended by the same command, and refuses no caller',
    async (at, isAfter) => {
      const valid = rolesOf('read').map(([key]) => key!);
      await brokenOff(machine.contextOf(), [at, isAfter], options);
      for (const [index, keys] of rolesOf('read').entries()) expect(keys).toContain(valid[index]);
      machine.said.length = 0;
      await changeKeys(machine.contextOf(), options).catch((error: unknown) => {
        // Nothing was left to do.
        if (!(at === steps.length && isAfter)) throw error;
      });
      for (const [index, keys] of rolesOf('read').entries()) {
        expect(keys).toHaveLength(wanted);
        expect(keys).toContain(valid[index]);
      }
      expect(rolesOf('read')).toEqual(rolesOf('written'));
    },
  );
});

test('keys shows which are written but not served yet, and which older ones are still valid', async () => {
  await brokenOff(machine.contextOf({ cloud: 'gcp' }), [1, true], ADD);
  machine.said.length = 0;
  await changeKeys(machine.contextOf({ cloud: 'gcp' }), { step: 'show' });
  expect(machine.said.at(-1)).toBe('gcp: read 2 (1 not served yet), write 1, admin 1, compare 1');
  await changeKeys(machine.contextOf({ cloud: 'gcp' }), ADD);
  await brokenOff(machine.contextOf({ cloud: 'gcp' }), [1, true], RETIRE);
  await changeKeys(machine.contextOf({ cloud: 'gcp' }), { step: 'show' });
  expect(machine.said.at(-1)).toBe('gcp: read 1 (1 older still valid), write 2, admin 2, compare 2');
});

test('keys --retire keeps a key until the functions have read the newer one', async () => {
  await brokenOff(machine.contextOf({ cloud: 'azure' }), [5, false], ADD);
  expect(await failureOf(changeKeys(machine.contextOf({ cloud: 'azure' }), RETIRE))).toContain(
    'are served: `--add` again',
  );
});

test('keys --add waits until the functions have read the keys, and says so when they have not', async () => {
  machine.answer({ to: 'az rest --method post', times: 2 });
  expect(await failureOf(changeKeys(machine.contextOf({ cloud: 'azure' }), ADD))).toMatch(
    /not served yet; the same command goes on: .* read, write, admin, compare/,
  );
  expect(machine.clock.waitedMs()).toBe(600_000);
  await changeKeys(machine.contextOf({ cloud: 'azure' }), ADD);
  expect(
    rolesOf('read')
      .slice(4)
      .map((keys) => keys.length),
  ).toEqual([2, 2, 2, 2]);
});

test('a caller has a key of its own, which the deployment’s own changes leave alone', async () => {
  const owner = keyOwner('billing(tables=orders-*;until=2027-01-31)', 'write');
  await changeKeys(machine.contextOf(), { step: 'add', owner });
  const lines = machine.said.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as object);
  expect(lines).toEqual(
    CLOUDS.map((cloud) => ({
      audit: 'keys add',
      cloud,
      by: 'somebody@example.com',
      ...owner,
      outcome: 'done',
    })),
  );
  await changeKeys(machine.contextOf(), ADD);
  const write = machine.deployed.secrets.gcp.read.get('write')!;
  expect(write).toMatch(/^[\w-]{32},first-gcp-key-of-write,billing\(tables=orders-\*;until=2027-01-31\)=[\w-]{32}$/);
  await changeKeys(machine.contextOf(), { step: 'show' });
  expect(machine.said.join('\n')).toContain('write 2 + billing(tables=orders-*;until=2027-01-31)');
  await changeKeys(machine.contextOf(), { step: 'retire', owner });
  expect(machine.deployed.secrets.gcp.read.get('write')).not.toContain('billing');
});

test('a caller’s key is added where it is missing, after that failed on one cloud', async () => {
  const owner = keyOwner('billing', 'write');
  await brokenOff(machine.contextOf(), [4, false], { step: 'add', owner });
  await changeKeys(machine.contextOf(), { step: 'add', owner });
  for (const cloud of CLOUDS)
    expect(machine.deployed.secrets[cloud].read.get('write')!.match(/billing=/g)).toHaveLength(1);
});

test('a text that is no key is not counted as one, and stays in its place', () => {
  // As someone edited it by hand: its brackets hold no limits.
  const texts = ['own-key-of-the-deployment', 'ada=key-of-ada-0000000000', 'ada(everything)=key-of-ada-0000000000'];
  const ada = { role: 'read', text: 'ada', name: 'ada' } as const;
  expect([countOf(texts), countOf(texts, ada)]).toEqual([1, 1]);
  expect(nextKeys(texts, 'add', 'fresh')).toEqual(['fresh', ...texts]);
});

test.each([
  ['Billing', 'write', 'NAME(tables='],
  ['billing(tables=)', 'write', 'NAME(tables='],
  ['billing', 'owner', 'one of read, write, admin, compare'],
  ['billing', undefined, 'one of read, write, admin, compare'],
])('keys refuses the caller %s of the role %s', (text, role, said) => {
  expect(() => keyOwner(text, role)).toThrow(said);
});

/** What `records` answers to one of these keys, by its place among them. */
async function statusOf(cloud: 'gcp' | 'azure', keys: string, which: number): Promise<number> {
  const gate =
    cloud === 'gcp'
      ? ['X-Serverless-Authorization', 'Bearer an-identity-token']
      : ['x-functions-key', 'an-azure-function-key'];
  const headers = { [gate[0]!]: gate[1]!, Authorization: `Bearer ${keys.split(',').at(which)!}` };
  return (await fetch(`${machine.deployed.outputs[cloud].functions.records.url}/v1/tables`, { headers })).status;
}

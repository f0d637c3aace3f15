// The options of `npm start` and `npm run dev`.
import type { Provider } from '../../shared/lab/kit/dimensions.ts';
import type { ComparisonOptions } from '../cli/comparison.ts';
import { EXIT_HELP } from '../cli/exit.ts';
import { choice, command, type CommandLine, UsageError, wholeNumber } from '../cli/command-options.ts';
import { baselineFrom, commandOf, PLAN_HELP, PLAN_OPERAND, PLAN_OPTIONS, planFrom } from '../cli/plan-options.ts';
import { NETWORK } from '../emulators/emulated-network.ts';
import { DATASTORE, datastoreOf, networkBefore } from '../emulators/which-datastore.ts';
import { type CloudsOptions, KEY_NAMES, type LocalKeys } from './local-clouds.ts';

export interface StartOptions
  extends
    Pick<ComparisonOptions, 'plan' | 'baseline' | 'outDir'>,
    Required<Pick<CloudsOptions, 'datastore' | 'network'>> {
  /** The command that repeats the comparison. */
  readonly command: string;
  readonly providers: readonly Provider[];
}

export type DevOptions = Pick<CloudsOptions, 'datastore' | 'firstPort' | 'keys' | 'dataDir'>;

export const START = command({
  name: 'npm start --',
  operands: [PLAN_OPERAND],
  about: `Runs both clouds' functions on this machine, writes and reads a record through each, and compares three ways to store small records:
an entity per record, the SDK's batches, and this store. ${PLAN_HELP} The default one takes about 5 minutes.
${EXIT_HELP}`,
  options: {
    ...PLAN_OPTIONS,
    cloud: { value: 'gcp|azure|both', default: 'both', help: 'which clouds take part' },
    network: { ...NETWORK, help: `${NETWORK.help}; default cloud` },
    datastore: DATASTORE,
  },
  examples: [
    'npm start',
    'npm start -- --network 25ms',
    'npm start -- --cloud azure --workloads ycsb-b --callers 1,16 --records 2000 --bytes 1000 --seconds 0.5 --out report/small',
    'npm start -- --workloads ycsb-c --layouts container --container-kib 32,128,512 --callers 16',
    "npm start -- --workloads load --against report/compare.json --fail-if 'container.throughput<0.8x'",
  ],
});

export const DEV = command({
  name: 'npm run dev --',
  about: `Keeps both clouds' emulators and functions up on this machine until Ctrl-C, and prints their addresses and keys as lines to paste into a
shell.`,
  options: {
    port: {
      value: 'N',
      help: 'ports N to N+3 for the functions: records and compare of Google Cloud, then of Azure; default free ones',
    },
    data: {
      value: 'DIR',
      help: 'keeps the data in DIR as it is written, however this ends, and finds it there; default: the data is gone',
    },
    'read-key': {
      value: 'KEY',
      help: 'key of access with the role read, 16 characters or more, on both clouds; default a random one, as for the next four',
    },
    'write-key': { value: 'KEY', help: 'with the role write' },
    'admin-key': { value: 'KEY', help: 'with the role admin' },
    'compare-key': { value: 'KEY', help: 'with the role compare, which runs comparisons and opens nothing else' },
    'functions-key': { value: 'KEY', help: "x-functions-key, which Azure's platform asks for" },
    datastore: DATASTORE,
  },
  examples: ['npm run dev', 'npm run dev -- --port 8080 --data .data --admin-key only-on-this-machine'],
});

/** `args`: as they were given. Throws a UsageError. */
export async function startOptionsOf(
  { operands, values }: CommandLine<typeof START.options>,
  args: readonly string[],
): Promise<StartOptions> {
  const plan = await planFrom(operands[0], values);
  const datastore = datastoreOf(values.datastore);
  return {
    plan,
    baseline: await baselineFrom(values),
    command: commandOf(START.name, args, plan),
    providers: PROVIDERS_OF[choice('--cloud', values.cloud, ['gcp', 'azure', 'both'])],
    datastore,
    network: networkBefore(datastore, values.network, 'cloud'),
    outDir: notEmpty('--out', values.out),
  };
}

const PROVIDERS_OF = {
  gcp: ['datastore'],
  azure: ['azure-tables'],
  both: ['datastore', 'azure-tables'],
} as const;

/** Throws a UsageError. */
export function devOptionsOf({ values }: CommandLine<typeof DEV.options>): DevOptions {
  const datastore = datastoreOf(values.datastore);
  const dataDir = values.data === undefined ? undefined : notEmpty('--data', values.data);
  if (datastore === 'google' && dataDir !== undefined)
    throw new UsageError(
      "--data does not go with --datastore google: Google's emulator keeps its data in memory alone",
    );
  return {
    datastore,
    dataDir,
    firstPort: values.port === undefined ? undefined : wholeNumber('--port', values.port, 1, 65_532),
    keys: Object.assign({}, ...KEY_NAMES.map((name) => keyOf(name, values))) as Partial<LocalKeys>,
  };
}

/** Characters that a header allows behind `Bearer`; the functions want at least 16. */
const KEY = /^[A-Za-z0-9._~+/=-]{16,}$/;

function keyOf(role: keyof LocalKeys, values: CommandLine<typeof DEV.options>['values']): Partial<LocalKeys> {
  const key = values[`${role}-key`];
  if (key === undefined) return {};
  if (!KEY.test(key)) throw new UsageError(`--${role}-key takes 16 or more letters, digits or . _ ~ + / = -`);
  return { [role]: key };
}

function notEmpty(option: string, text: string): string {
  if (text === '') throw new UsageError(`${option} takes the name of a folder`);
  return text;
}

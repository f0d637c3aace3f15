// The options of `npm start` and `stowage compare`: which plan, what to change in it, and what to
// compare the result with.
import * as z from 'zod';
import { CONTAINER_KIB_LEAST, CONTAINER_KIB_MAX } from '../../shared/lab/load/cell.ts';
import { ARRIVALS, KEY_CHOICES, LAYOUTS, RECORD_FORMS, WORKLOADS } from '../../shared/lab/kit/dimensions.ts';
import { PERCENTILES, type Plan, type PlanInput, planOf, PLANS, planSchema } from '../../shared/lab/plan/plan.ts';
import { COMPARED } from '../../shared/lab/report/against.ts';
import { type Condition, conditionsOf, unclearAmong } from '../../shared/lab/report/fail-conditions.ts';
import { COMPARED_NAMES, type Report } from '../../shared/lab/report/report-schema.ts';
import {
  choice,
  type CommandLine,
  given,
  type Option,
  positiveNumber,
  quoted,
  refusing,
  UsageError,
  wholeNumber,
} from './command-options.ts';
import { readText } from './terminal-text.ts';

/** `throughput in records/s, p50, p95, p99 in ms, cost in dollars per million records`. */
function unitWords(): string {
  const figures = Map.groupBy(COMPARED_NAMES, (figure) => COMPARED[figure].unit);
  return [...figures].map(([unit, some]) => `${some.join(', ')} in ${unit}`).join(', ');
}

const NAMES = Object.keys(PLANS) as (keyof typeof PLANS)[];

export const PLAN_OPERAND = '[plan]';

export const PLAN_HELP = `The plan is ${NAMES.join(', ')} or a JSON file; without one, ${NAMES[0]!}. Options change it.`;

export const PLAN_OPTIONS = {
  workloads: { value: 'LIST', help: `of ${WORKLOADS.join(', ')}` },
  layouts: { value: 'LIST', help: `of ${LAYOUTS.join(', ')}` },
  callers: { value: 'LIST', help: 'callers in flight on each instance, one rung per number, such as 1,8,32' },
  rates: { value: 'LIST', help: 'open loop: operations begun per second, one rung per number' },
  arrivals: { value: ARRIVALS.join('|'), help: 'of an open loop; default poisson, as those of independent users' },
  hold: { value: 'pN<MS', help: 'searches the highest rate at which the percentile stays below, such as p99<20' },
  instances: { value: 'LIST', help: 'function instances that generate the load together' },
  keys: { value: KEY_CHOICES.join('|'), help: 'how keys are chosen; default as each workload says' },
  records: { value: 'N', help: 'in the dataset that is worked on' },
  bytes: { value: 'LIST', help: 'in the fields of a record' },
  'record-form': { value: RECORD_FORMS.join('|'), help: "what records are made of: YCSB's random fields, or text" },
  'container-kib': {
    value: 'LIST',
    help: `the table's containerBytesMax, in KiB: ${CONTAINER_KIB_LEAST} to ${CONTAINER_KIB_MAX}`,
  },
  seconds: { value: 'N', help: 'length of each measurement' },
  repetitions: { value: 'N', help: 'runs of each cell; six sound ones are the fewest that tell layouts apart' },
  seed: { value: 'N', help: 'keys and the order of the runs follow from it' },
  against: { value: 'FILE', help: 'an earlier compare.json: which figures changed by more than chance' },
  'fail-if': {
    value: 'CONDITIONS',
    help: `exit code 3 if one is met, such as 'ycsb-c.p99>50ms' or, with --against, 'container.throughput<0.9x'; units: ${unitWords()}`,
  },
  out: { value: 'DIR', default: 'report', help: 'where the report goes, and stays in a folder named after its time' },
} as const satisfies Readonly<Record<string, Option>>;

type PlanValues = CommandLine<typeof PLAN_OPTIONS>['values'];

/** The plan that the command line names, with what its options change. Throws a UsageError. */
export async function planFrom(operand: string | undefined, values: PlanValues): Promise<Plan> {
  const base = await namedPlan(operand ?? NAMES[0]!);
  const changes = changesIn(values);
  if (Object.keys(changes).length === 0) return base;
  const changed = planSchema.safeParse({ ...base, name: 'custom', ...changes } satisfies PlanInput);
  if (!changed.success) throw new UsageError(z.prettifyError(changed.error));
  return changed.data;
}

async function namedPlan(operand: string): Promise<Plan> {
  const name = NAMES.find((one) => one === operand);
  if (name !== undefined) return PLANS[name];
  const text = await readText(operand).catch((error: unknown) => {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`there is no plan ${operand}: it is ${NAMES.join(', ')} or a JSON file`, { cause: error });
  });
  return await refusing(operand, () => planOf(text));
}

function changesIn(values: PlanValues): Partial<PlanInput> {
  const read = <Value>(name: keyof PlanValues, as: (option: string, text: string) => Value): Value | undefined => {
    const text = values[name];
    return text === undefined ? undefined : as(`--${name}`, text);
  };
  const changes = {
    workloads: read('workloads', (option, text) => choices(option, text, WORKLOADS)),
    layouts: read('layouts', (option, text) => choices(option, text, LAYOUTS)),
    callers: read('callers', wholeNumbers),
    ratesPerSecond: read('rates', (option, text) => parts(text).map((rate) => positiveNumber(option, rate))),
    arrivals: read('arrivals', (option, text) => choice(option, text, ARRIVALS)),
    search: read('hold', searchOf),
    instances: read('instances', wholeNumbers),
    keys: read('keys', (option, text) => choice(option, text, KEY_CHOICES)),
    records: read('records', (option, text) => wholeNumber(option, text, 1)),
    recordBytes: read('bytes', wholeNumbers),
    recordForm: read('record-form', (option, text) => choice(option, text, RECORD_FORMS)),
    containerKib: read('container-kib', wholeNumbers),
    durationMs: read('seconds', (option, text) => Math.max(1, Math.round(positiveNumber(option, text) * 1_000))),
    repetitions: read('repetitions', (option, text) => wholeNumber(option, text, 1)),
    seed: read('seed', (option, text) => wholeNumber(option, text, 0)),
  };
  return given(changes);
}

function searchOf(option: string, text: string): PlanInput['search'] {
  const [, percentile, latencyMs] = /^p([\d.]+)<([\d.]+)$/.exec(text) ?? [];
  const known = PERCENTILES.find((one) => one === Number(percentile));
  if (known === undefined || !(Number(latencyMs) > 0))
    throw new UsageError(
      `${option} takes a percentile and milliseconds, such as p99<20; percentiles are ${PERCENTILES.join(', ')}`,
    );
  return { percentile: known, latencyMsMax: Number(latencyMs) };
}

/** In ascending order, without repetition. */
function wholeNumbers(option: string, text: string): number[] {
  const numbers = parts(text).map((part) => wholeNumber(option, part, 1));
  return [...new Set(numbers)].toSorted((one, other) => one - other);
}

function choices<Choice extends string>(option: string, text: string, all: readonly Choice[]): Choice[] {
  return [...new Set(parts(text).map((part) => choice(option, part, all)))];
}

function parts(text: string): string[] {
  return text.split(',').map((part) => part.trim());
}

/** The command line that repeats the comparison: as it was given, and the seed if it was not. */
export function commandOf(name: string, args: readonly string[], { seed }: Plan): string {
  const hasSeed = args.some((arg) => arg === '--seed' || arg.startsWith('--seed='));
  return [name, ...args.map(quoted), ...(hasSeed ? [] : [`--seed ${seed}`])].join(' ');
}

export interface Baseline {
  readonly report: Report | undefined;
  readonly conditions: readonly Condition[];
}

/** The earlier report and the conditions. Throws a UsageError, also where the file is no report. */
export async function baselineFrom({ against, 'fail-if': failIf }: PlanValues): Promise<Baseline> {
  const conditions = failIf === undefined ? [] : await refusing('--fail-if', () => conditionsOf(failIf));
  const relative = conditions.find(({ isRelative }) => isRelative);
  if (relative !== undefined && against === undefined)
    throw new UsageError(`--fail-if: ${relative.text} needs --against: it is on how a figure changed`);
  if (against === undefined) return { conditions, report: undefined };
  const unclear = unclearAmong(conditions);
  if (unclear !== undefined) throw new UsageError(`--fail-if: ${unclear}`);
  const { readReport } = await import('./report-files.ts');
  return { conditions, report: await refusing('--against', () => readReport(against)) };
}

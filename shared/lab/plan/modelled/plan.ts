// A plan: which cells the model plays.
import * as z from 'zod';
import {
  ARRIVALS,
  MODEL_KEY_CHOICES,
  MODEL_LAYOUTS,
  MODEL_WORKLOADS,
  type ModelLayout,
  type ModelWorkload,
  type Provider,
  PROVIDERS,
} from '../../kit/dimensions.ts';
import { parsedPlan } from '../parsed-plan.ts';
import type { ModelCell } from '../../cloud/run/cell.ts';

const count = (most: number) => z.int().min(1).max(most);
const ms = z.number().min(1).max(3_600_000);

const setting = z.union([z.number().min(0), z.enum(['low', 'middle', 'high'])]);

/** A bound on a figure of a row's container layout. */
const goalSchema = z.strictObject({
  figure: z.enum(['throughput', 'p50', 'p99', 'requests', 'conflicts', 'billed', 'slowest']),
  /** The figure is divided by this layout's, in this row or that with this id, so many times. */
  against: z
    .strictObject({ layout: z.enum(MODEL_LAYOUTS), row: z.string().optional(), times: z.number().min(0).optional() })
    .optional(),
  atLeast: z.number().optional(),
  atMost: z.number().optional(),
});

export type Goal = z.infer<typeof goalSchema>;

const rowSchema = z.strictObject({
  /** For goals of other rows. */
  id: z.string().optional(),
  providers: z.array(z.enum(PROVIDERS)).min(1).optional(),
  layouts: z.array(z.enum(MODEL_LAYOUTS)).min(1).optional(),
  workload: z.enum(MODEL_WORKLOADS),
  keys: z.enum(MODEL_KEY_CHOICES).nullable().default(null),
  records: count(1_000_000_000).default(10_000),
  /** At least what the short fields of a text have. */
  recordBytes: z.int().min(100).max(60_000).default(500),
  /** Instances that are there from the beginning; or `following`, those that the load asks for. */
  instances: count(1_000).default(1),
  following: z
    .strictObject({ concurrency: count(1_000), startMs: z.number().min(0).max(600_000), instancesMax: count(1_000) })
    .optional(),
  /** Callers of each instance; with `following` of all of them. */
  callers: count(100_000).default(1),
  /** In place of callers: arrivals a second that wait for nothing. */
  arrivals: z.strictObject({ perSecond: z.number().min(0.1).max(1_000_000), spacing: z.enum(ARRIVALS) }).optional(),
  containerKib: z.int().min(16).max(700).optional(),
  warmupMs: ms.optional(),
  warmupOperationsMax: count(10_000_000).optional(),
  windowMs: ms.optional(),
  operationsMax: count(10_000_000).optional(),
  settings: z.record(z.string(), setting).default({}),
  /** Added to the plan's. */
  seed: z.int().min(0).max(1_000).default(0),
  goals: z.array(goalSchema).default([]),
});

export type RowInput = z.input<typeof rowSchema>;
type Row = z.output<typeof rowSchema>;

const groupSchema = z.strictObject({
  title: z.string().min(1).max(120),
  rows: z.array(rowSchema).min(1),
});

/** A plan file. */
export const planSchema = z.strictObject({
  name: z.string().min(1).max(40),
  groups: z.array(groupSchema).min(1),
  /** For rows that say nothing else. */
  window: z
    .strictObject({
      warmupMs: ms.default(10_000),
      warmupOperationsMax: count(10_000_000).default(2_000),
      windowMs: ms.default(10_000),
      operationsMax: count(10_000_000).default(2_000),
    })
    .prefault({}),
});

export type PlanInput = z.input<typeof planSchema>;
export type ModelPlan = z.output<typeof planSchema>;

/** One row of a plan with its cells, in the order of the plan. */
export interface PlannedRow {
  readonly group: string;
  readonly id: string | undefined;
  readonly provider: Provider;
  readonly goals: readonly Goal[];
  readonly cells: readonly ModelCell[];
}

/** The plan in a file's text. Throws a TypeError that says what is wrong with it. */
export function planOf(text: string): ModelPlan {
  const plan = parsedPlan(text, planSchema);
  checkRows(plan);
  return plan;
}

function checkRows({ groups }: ModelPlan): void {
  const all = groups.flatMap(({ rows }) => rows);
  const ids = new Set(all.map(({ id }) => id));
  for (const row of all) {
    if (row.following !== undefined && row.instances !== 1)
      throw new TypeError('a row has instances or following, not both');
    if (row.arrivals !== undefined && row.callers !== 1) throw new TypeError('a row has callers or arrivals, not both');
    for (const { against } of row.goals)
      if (against?.row !== undefined && !ids.has(against.row)) throw new TypeError(`no row has the id ${against.row}`);
  }
}

/** Settings that a row's cells share beside it. */
interface Common {
  readonly plan: ModelPlan;
  readonly seed: number;
  /** By provider, over the rows' own. */
  readonly settings: Readonly<Record<Provider, ModelCell['settings']>>;
  readonly processor: boolean;
}

export function rowsOf(common: Common): PlannedRow[] {
  return common.plan.groups.flatMap(({ title, rows }) =>
    PROVIDERS.flatMap((provider) =>
      rows
        .filter(({ providers }) => providers?.includes(provider) ?? true)
        .map((row): PlannedRow => {
          const layouts = row.layouts ?? layoutsOf(row.workload);
          const cells = layouts.map((layout) => cellOf(row, { provider, layout }, common));
          return { group: title, id: row.id, provider, goals: row.goals, cells };
        }),
    ),
  );
}

function layoutsOf(workload: ModelWorkload): readonly ModelLayout[] {
  if (workload === 'read' || workload === 'ycsb-c') return ['record', 'container'];
  if (workload === 'modify' || workload === 'ycsb-f') return ['conditional', 'container'];
  if (workload === 'load') return ['record', 'batch', 'container'];
  return ['record', 'conditional', 'container'];
}

function cellOf(
  row: Row,
  own: Pick<ModelCell, 'provider' | 'layout'>,
  { plan, seed, settings, processor }: Common,
): ModelCell {
  const { workload, keys, records, recordBytes, instances, following, callers, arrivals, containerKib } = row;
  const window = { ...plan.window, ...given(row) };
  const all = following === undefined ? instances * callers : callers;
  return {
    case: nameOf(row),
    ...own,
    workload,
    keys,
    records,
    recordBytes,
    fleet: following === undefined ? { kind: 'fixed', instances } : { kind: 'following', ...following },
    load: arrivals ?? { callers: all },
    containerKib: containerKib ?? null,
    window: {
      ...window,
      // Each caller is to have had an operation before, and to have two that count.
      warmupOperationsMax: Math.max(all, window.warmupOperationsMax),
      operationsMax: Math.max(2 * all, window.operationsMax),
    },
    seed: seed + row.seed,
    hasProcessor: processor,
    settings: { ...row.settings, ...settings[own.provider] },
  };
}

function given({ warmupMs, warmupOperationsMax, windowMs, operationsMax }: Row): Partial<ModelPlan['window']> {
  const all = { warmupMs, warmupOperationsMax, windowMs, operationsMax };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

/** `16 x 4 put, zipfian, 100,000 records, 64 KiB`: what stands in every table. */
function nameOf(row: Row): string {
  const { following, arrivals, settings } = row;
  const who = following === undefined ? `${row.instances} x` : `up to ${following.instancesMax} x`;
  const load = arrivals === undefined ? `${row.callers}` : `${arrivals.perSecond}/s`;
  const extras = [
    row.keys ?? '',
    row.records === 10_000 ? '' : shortCount(row.records),
    row.recordBytes === 500 ? '' : `${row.recordBytes} B`,
    row.containerKib === undefined ? '' : `${row.containerKib} KiB`,
    ...Object.entries(settings).map(([name, value]) => `${name}=${value}`),
  ];
  return [`${who} ${load} ${row.workload}`, ...extras.filter((extra) => extra !== '')].join(', ');
}

function shortCount(records: number): string {
  if (records >= 1_000_000) return `${records / 1_000_000}M`;
  return `${records / 1_000}k`;
}

// The plans that are built in.
import { PROVIDERS } from '../../compare/dimensions.ts';
import type { KeyChoice, ModelLayout, ModelWorkload } from '../work/dimensions.ts';
import type { ModelCell } from './cell.ts';

interface Row {
  readonly instances: number;
  readonly callersEach: number;
  readonly workload: ModelWorkload;
  readonly keys?: KeyChoice;
  readonly records?: number;
  readonly containerBytesMax?: number;
  readonly layouts?: readonly ModelLayout[];
}

const SCALE_ROWS: readonly Row[] = [
  { instances: 1, callersEach: 4, workload: 'put' },
  { instances: 1, callersEach: 32, workload: 'put' },
  { instances: 1, callersEach: 256, workload: 'put' },
  { instances: 1, callersEach: 1, workload: 'read' },
  { instances: 1, callersEach: 32, workload: 'read' },
  { instances: 1, callersEach: 256, workload: 'read' },
  { instances: 16, callersEach: 32, workload: 'read' },
  { instances: 4, callersEach: 4, workload: 'put' },
  { instances: 16, callersEach: 4, workload: 'put' },
  { instances: 16, callersEach: 4, workload: 'put', containerBytesMax: 64 * 1024 },
  { instances: 16, callersEach: 4, workload: 'put', containerBytesMax: 16 * 1024 },
  { instances: 8, callersEach: 8, workload: 'update', keys: 'zipfian', records: 20_000 },
  { instances: 8, callersEach: 1, workload: 'modify', keys: 'one' },
];

/** The rows of the first, crude model, by which the store's weaknesses were found. */
export function scalePlan(seed: number): ModelCell[] {
  return SCALE_ROWS.flatMap((row) => PROVIDERS.flatMap((provider) => cellsOf(row, provider, seed)));
}

function cellsOf(row: Row, provider: ModelCell['provider'], seed: number): ModelCell[] {
  const { instances, callersEach, workload, keys = 'uniform', records = 10_000, containerBytesMax } = row;
  const { layouts = defaultLayouts(workload) } = row;
  const size = containerBytesMax === undefined ? '' : ` ${containerBytesMax / 1024} KiB`;
  return layouts.map((layout) => ({
    case: `${instances} x ${callersEach} ${workload} ${keys} ${records.toLocaleString('en-US')}${size}`,
    provider,
    layout,
    workload,
    keys,
    records,
    recordBytes: 500,
    fleet: { kind: 'fixed', instances },
    load: { callers: instances * callersEach },
    ...(containerBytesMax === undefined ? {} : { containerBytesMax }),
    window: { warmupMs: 10_000, warmupOperationsMax: 12_000, windowMs: 15_000, operationsMax: 6_000 },
    seed,
    settings: {},
  }));
}

function defaultLayouts(workload: ModelWorkload): readonly ModelLayout[] {
  if (workload === 'read') return ['record', 'container'];
  if (workload === 'modify') return ['conditional', 'container'];
  return ['record', 'conditional', 'container'];
}

// What the curves show: closed loops over their callers, a row for each workload, and for each size
// of record, number of instances and size of containers where a plan has several.
import { isOfContainers } from '../kit/dimensions.ts';
import type { Figure } from '../kit/figure.ts';
import { said, whole } from '../kit/figure-format.ts';
import { WORKLOAD_WORDS } from '../report/names.ts';
import type { Report, ReportCell } from '../report/report-schema.ts';

export interface Row {
  readonly id: string;
  readonly title: string;
  /** The sentences on the workload; empty where nothing is compared, or in another row of it. */
  readonly sentence: string;
  /** What is counted a second, such as `reads`. */
  readonly units: string;
  readonly cells: readonly ReportCell[];
  /** The ticks of its axis, in order: all of the plan's, whether they have run or not. */
  readonly callers: readonly number[];
}

export function rowsOf({ cells, sentences, plan }: Pick<Report, 'cells' | 'sentences' | 'plan'>): Row[] {
  const closed = cells.filter(({ ratePerSecond }) => ratePerSecond === null);
  const groups = Map.groupBy(closed, ({ workload, recordBytes, instances }) =>
    [workload, recordBytes, instances].join(' '),
  );
  const told = new Set<string>();
  return [...groups.values()].flatMap((group) => {
    const stored = group.filter(({ layout }) => isOfContainers(layout));
    const sizes = new Set(stored.length === 0 ? [null] : stored.map(({ containerKib }) => containerKib));
    return [...sizes].map((containerKib) => {
      const own = group.filter((cell) => !isOfContainers(cell.layout) || cell.containerKib === containerKib);
      const { workload, recordBytes, instances } = own[0]!;
      const { doing, units } = WORKLOAD_WORDS[workload];
      const texts = told.has(workload) ? [] : sentences.filter((one) => one.workload === workload);
      told.add(workload);
      const isOneOfSizes = closed.some((cell) => cell.recordBytes !== recordBytes);
      return {
        id: [workload, recordBytes, instances, containerKib ?? ''].join('-'),
        title: [
          doing + (isOneOfSizes ? ` of ${whole(recordBytes)} bytes` : ''),
          ...said(instances > 1 && `by ${instances} instances`),
          ...said(containerKib !== null && `in containers of ${containerKib} KiB`),
        ].join(', '),
        sentence: texts.map(({ text }) => text.replace(`${doing}: `, '')).join(' '),
        units,
        cells: own,
        callers: [...new Set([...plan.callers, ...own.map(({ callers }) => callers)])].toSorted((a, b) => a - b),
      };
    });
  });
}

/** What a curve may show over callers. */
export interface Measure {
  readonly name: string;
  /** `reads a second`. */
  readonly label: (units: string) => string;
  /** Null where replies are too few for it. */
  readonly of: (cell: ReportCell) => Pick<Figure, 'median' | 'low' | 'high'> | null;
}

/** The first is shown until another one is chosen. */
export const MEASURES: readonly Measure[] = [
  { name: 'rate', label: (units) => `${units} a second`, of: ({ recordsPerSecond }) => recordsPerSecond },
  { name: 'p50', label: () => 'half of the calls within, ms', of: ({ latency }) => alone(latency.p50Ms) },
  { name: 'p99', label: () => '99 of 100 calls within, ms', of: ({ latency }) => alone(latency.p99Ms) },
];

export const BILL: Measure = {
  name: 'bill',
  label: (units) => `dollars per million ${units}`,
  of: ({ dollarsPerMillionRecords }) => dollarsPerMillionRecords,
};

/** Percentiles are of all runs together, so that they have no interval. */
function alone(value: number | null): ReturnType<Measure['of']> {
  return value === null ? null : { median: value, low: value, high: value };
}

import { describe, expect, test } from 'vitest';
import { figureOf } from '../../../shared/lab/kit/figure.ts';
import { COORDINATES, sampleCell } from './sample-report.ts';
import type { Against, Change } from '../../../shared/lab/report/report-schema.ts';
import { conditionsOf, idleAmong, metBy, unclearAmong } from '../../../shared/lab/report/fail-conditions.ts';

const CHANGE: Change = {
  ...COORDINATES,
  layout: 'container',
  workload: 'ycsb-a',
  figure: 'throughput',
  before: figureOf([10]),
  now: figureOf([8]),
  ratio: 0.8,
  p: 0.01,
  verdict: 'lower',
};

const changed = (...changes: Partial<Change>[]): Against => ({
  startedAt: '2026-11-22T10:00:00.000Z',
  significance: 0.05,
  changes: changes.map((change) => ({ ...CHANGE, ...change })),
  onlyBefore: 0,
  onlyNow: 0,
  otherwise: [],
});

describe('a condition', () => {
  test.each<[string, number, ...Partial<Change>[]]>([
    ['ycsb-a.throughput<0.9x', 1, {}],
    ['ycsb-a.throughput<0.8x', 0, {}],
    ['ycsb-a.throughput<.9x', 0, { verdict: 'undecided', p: 0.2 }],
    ['throughput<0.9x', 2, {}, { layout: 'record' }],
    ['container.throughput<0.9x', 1, {}, { layout: 'record' }],
    ['ycsb-a.azure-tables.throughput<0.9x', 0, {}],
    ['record.container.throughput<0.9x', 2, {}, { layout: 'record' }, { layout: 'batch' }],
    ['throughput<0.9x', 0, { figure: 'p99' }],
    ['p99 > 1.2x, throughput < 0.5x', 1, { figure: 'p99', ratio: 1.5, verdict: 'higher' }],
  ])('%s is met by %i of these changes that are not chance', (text, times, ...changes) => {
    expect(metBy({ cells: [], against: changed(...changes) }, conditionsOf(text))).toHaveLength(times);
  });

  test('without an x is about the figure itself, in its unit, and needs no earlier report', () => {
    const cells = [{ layout: 'container' as const, callers: 8 }, {}].map((one) => sampleCell(one, { repetitions: 1 }));
    const median = 9;
    const linesOf = (text: string): string[] => metBy({ cells }, conditionsOf(text));
    expect(linesOf(`container.p99>${median - 0.01}`)).toEqual([
      `--fail-if container.p99>${median - 0.01}: Datastore container, load, 500 B, 8 callers has ${Number(median.toPrecision(3))} ms`,
    ]);
    expect(linesOf(`p99>${median + 0.01}`)).toEqual([]);
    expect(linesOf('throughput<1000')).toEqual([
      '--fail-if throughput<1000: Datastore record, load, 500 B, 1 caller has 291 records/s',
    ]);
    expect(linesOf('cost > 0.1')).toEqual([
      '--fail-if cost>0.1: Datastore record, load, 500 B, 1 caller has 0.873 dollars per million records',
    ]);
  });

  test('may name its unit, and must do so with an earlier report', () => {
    expect(unclearAmong(conditionsOf('p99>50ms,throughput<0.9x,throughput<100/s,cost>1$'))).toBeUndefined();
    expect(unclearAmong(conditionsOf('p99>1.2x,throughput<0.9'))).toBe(
      'throughput<0.9 is unclear beside an earlier report: throughput<0.9x is now to before, throughput<0.9/s the figure itself',
    );
  });

  test.each([
    ['put.throughput<0.9', '"put" is none of datastore, azure-tables, record, '],
    ['speed<0.9', '"speed" is none of throughput, p50, p99, cost, processor'],
    ['throughput=0.9', 'is no condition; write one like ycsb-c.p99>50 (ms) or, '],
    ['p99>50s', 'is no condition'],
    ['throughput<50ms', 'throughput is in /s, or against an earlier report in x'],
    ['p99>50%', 'is no condition'],
    ['throughput<-1', 'is no condition'],
    ['throughput<0.9,', '"" is no condition'],
    ['', 'is no condition'],
  ])('%j is refused', (text, message) => {
    expect(() => conditionsOf(text)).toThrow(message);
  });

  test('that no cell has a figure for is reported', () => {
    const [cell] = [sampleCell({}, { repetitions: 1 })];
    const run = cell.runs[0]!;
    const bare = {
      ...cell,
      latency: { ...cell.latency, p99Ms: null },
      runs: [{ ...run, latency: { ...run.latency, p99Ms: null } }],
    };
    const report = { cells: [bare], against: changed({}) };
    const conditions = conditionsOf('batch.throughput<0.9x,throughput<0.9x,p99>1,p50>1');
    expect(idleAmong(report, conditions)).toEqual([
      '--fail-if batch.throughput<0.9x: no cell of both reports has this figure',
      '--fail-if p99>1: no cell has this figure',
    ]);
  });
});

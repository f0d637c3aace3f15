import { describe, expect, test } from 'vitest';
import { figureOf } from '../../../shared/lab/kit/figure.ts';
import { sampleCell } from './sample-report.ts';
import type { Against, Change } from '../../../shared/lab/report/schema.ts';
import { conditionsOf, idleAmong, metBy, unclearAmong } from '../../../shared/lab/report/conditions.ts';

function change(over: Partial<Change>): Change {
  return {
    provider: 'datastore',
    layout: 'container',
    workload: 'ycsb-a',
    recordBytes: 500,
    containerKib: null,
    instances: 1,
    callers: 16,
    ratePerSecond: null,
    figure: 'throughput',
    before: figureOf([10]),
    now: figureOf([8]),
    ratio: 0.8,
    p: 0.01,
    verdict: 'lower',
    ...over,
  };
}

const changed = (...changes: Partial<Change>[]): Against => ({
  startedAt: '2026-11-22T10:00:00.000Z',
  significance: 0.05,
  changes: changes.map(change),
  onlyBefore: 0,
  onlyNow: 0,
  otherwise: [],
});

const met = (text: string, ...changes: Partial<Change>[]): number =>
  metBy({ cells: [], against: changed(...changes) }, conditionsOf(text)).length;

describe('a condition', () => {
  test('is met where the figure fell below the ratio by more than chance', () => {
    expect(met('ycsb-a.throughput<0.9x', {})).toBe(1);
    expect(met('ycsb-a.throughput<0.8x', {})).toBe(0);
    expect(met('ycsb-a.throughput<.9x', { verdict: 'undecided', p: 0.2 })).toBe(0);
  });

  test('names a figure, and may narrow it down to providers, layouts and workloads, in any order', () => {
    expect(met('throughput<0.9x', {}, { layout: 'record' })).toBe(2);
    expect(met('container.throughput<0.9x', {}, { layout: 'record' })).toBe(1);
    expect(met('ycsb-a.azure-tables.throughput<0.9x', {})).toBe(0);
    expect(met('record.container.throughput<0.9x', {}, { layout: 'record' }, { layout: 'batch' })).toBe(2);
    expect(met('throughput<0.9x', { figure: 'p99' })).toBe(0);
  });

  test('may ask for a rise, and stand beside others', () => {
    expect(met('p99 > 1.2x, throughput < 0.5x', { figure: 'p99', ratio: 1.5, verdict: 'higher' })).toBe(1);
  });

  test('without an x is on the figure itself, in its unit, and needs no earlier report', () => {
    const cells = [
      sampleCell({ layout: 'container', callers: 8 }, { repetitions: 1 }),
      sampleCell({}, { repetitions: 1 }),
    ];
    const median = cells[0]!.latency.p99Ms!.median;
    const linesOf = (text: string): string[] => metBy({ cells }, conditionsOf(text));
    expect(linesOf(`container.p99>${median - 0.01}`)).toEqual([
      `--fail-if container.p99>${median - 0.01}: Datastore container, load, 500 B, 8 callers has ${Number(median.toPrecision(3))} ms`,
    ]);
    expect(linesOf(`p99>${median + 0.01}`)).toEqual([]);
    expect(linesOf('throughput<1000')).toEqual([
      '--fail-if throughput<1000: Datastore record, load, 500 B, 1 caller has 291 records/s',
    ]);
    expect(linesOf('cost > 0.1')).toEqual([
      '--fail-if cost>0.1: Datastore record, load, 500 B, 1 caller has 0.873 dollars a million records',
    ]);
  });

  test('may say its unit, and must beside an earlier report', () => {
    expect(unclearAmong(conditionsOf('p99>50ms,throughput<0.9x,throughput<100/s,cost>1$'))).toBeUndefined();
    expect(unclearAmong(conditionsOf('p99>1.2x,throughput<0.9'))).toBe(
      'throughput<0.9 is unclear beside an earlier report: throughput<0.9x is now to before, throughput<0.9/s the figure itself',
    );
  });

  test.each([
    ['put.throughput<0.9', '"put" is none of datastore, azure-tables, record, '],
    ['speed<0.9', '"speed" is none of throughput, p50, p95, p99, cost'],
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

  test('that watches nothing is found', () => {
    const report = { cells: [sampleCell({}, { repetitions: 1 })], against: changed({}) };
    const conditions = conditionsOf('batch.throughput<0.9x,throughput<0.9x,p99>1,p50>1');
    expect(idleAmong(report, conditions)).toEqual([
      '--fail-if batch.throughput<0.9x: no cell of both reports has this figure',
      '--fail-if p99>1: no cell has this figure',
    ]);
  });
});

import { describe, expect, test } from 'vitest';
import { figureOf } from '../../../shared/lab/kit/figure.ts';
import type { Against, Change } from '../../../shared/lab/report/schema.ts';
import { conditionsOf, idleConditions, metBy } from '../../../shared/lab/report/conditions.ts';

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
  metBy(changed(...changes), conditionsOf(text)).length;

describe('a condition', () => {
  test('is met where the figure fell below the ratio by more than chance', () => {
    expect(met('ycsb-a.throughput<0.9', {})).toBe(1);
    expect(met('ycsb-a.throughput<0.8', {})).toBe(0);
    expect(met('ycsb-a.throughput<.9', { verdict: 'undecided', p: 0.2 })).toBe(0);
  });

  test('names a figure, and may narrow it down to providers, layouts and workloads, in any order', () => {
    expect(met('throughput<0.9', {}, { layout: 'record' })).toBe(2);
    expect(met('container.throughput<0.9', {}, { layout: 'record' })).toBe(1);
    expect(met('ycsb-a.azure-tables.throughput<0.9', {})).toBe(0);
    expect(met('record.container.throughput<0.9', {}, { layout: 'record' }, { layout: 'batch' })).toBe(2);
    expect(met('throughput<0.9', { figure: 'p99' })).toBe(0);
  });

  test('may ask for a rise, and stand beside others', () => {
    expect(met('p99 > 1.2, throughput < 0.5', { figure: 'p99', ratio: 1.5, verdict: 'higher' })).toBe(1);
  });

  test.each([
    ['put.throughput<0.9', '"put" is none of datastore, azure-tables, record, '],
    ['speed<0.9', '"speed" is none of throughput, p50, p95, p99, cost'],
    ['throughput=0.9', 'is no condition; write one like '],
    ['throughput<-1', 'is no condition'],
    ['throughput<0.9,', '"" is no condition'],
    ['', 'is no condition'],
  ])('%j is refused', (text, message) => {
    expect(() => conditionsOf(text)).toThrow(message);
  });

  test('that watches nothing is found', () => {
    const [idle, busy] = conditionsOf('batch.throughput<0.9,throughput<0.9');
    expect(idleConditions(changed({}), [idle!, busy!])).toEqual([idle]);
  });
});

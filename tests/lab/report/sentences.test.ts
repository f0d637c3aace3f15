// The sentences for a reader in a hurry.
import { expect, test } from 'vitest';
import type { Ratio } from '../../../shared/lab/kit/figure.ts';
import { sentencesOf } from '../../../shared/lab/report/sentences.ts';
import type { Comparison } from '../../../shared/lab/report/report-schema.ts';
import { COORDINATES } from './sample-report.ts';

const ratio = (value: number, verdict: Ratio['verdict'] = value < 1 ? 'lower' : 'higher'): Ratio => {
  return { ratio: value, low: value, high: value, confidence: 0.97, pairs: 6, verdict };
};

/** The store against one entity per record on Datastore, in scans with four callers. */
function comparison(rate: Ratio, bill: Ratio, change: Partial<Comparison> = {}): Comparison {
  const { provider, layout: _, ...load } = COORDINATES;
  return {
    ...load,
    workload: 'ycsb-e',
    callers: 4,
    numerator: { provider, layout: 'container' },
    denominator: { provider, layout: 'record' },
    recordsPerSecond: rate,
    dollarsPerMillionRecords: bill,
    processorUsPerRecord: ratio(1),
    isMachineLimited: false,
    ...change,
  };
}

const onAzure = {
  numerator: { provider: 'azure-tables', layout: 'container' },
  denominator: { provider: 'azure-tables', layout: 'record' },
} as const;

const textOf = (...comparisons: readonly Comparison[]): string =>
  sentencesOf(comparisons)
    .map(({ text }) => text)
    .join('\n');

test('a sentence has the ratio of the rates on each cloud, and the share of the bill', () => {
  const azure = comparison(ratio(1.9), ratio(1, 'undecided'), onAzure);
  expect(textOf(comparison(ratio(2.34), ratio(0.0284)), azure)).toBe(
    'Scanning 1 to 100 records: 2.3 times as many scans a second on Datastore and 1.9 times as many on Azure as with one entity per record, with 4 callers, for 0.028 of its bill on Datastore and the same bill on Azure.',
  );
});

test('a sentence is about the most callers at which the machine was not the limit, or says that it was', () => {
  const [few, most] = [comparison(ratio(2), ratio(0.5)), comparison(ratio(9), ratio(0.1), { callers: 64 })];
  expect(textOf(few, most)).toMatch(/: 9\.0 times .* with 64 callers, for 0\.1 of/);
  const limited = { ...most, isMachineLimited: true };
  expect(textOf(few, limited)).toMatch(/: 2\.0 times .* with 4 callers, for 0\.5 of/);
  expect(textOf(limited)).toMatch(/: 9\.0 times .* with 64 callers, where this machine was the limit, for 0\.1 of/);
});

test('a sentence compares with the SDK’s batches where there are any', () => {
  const batch = comparison(ratio(3), ratio(0.2), { denominator: { provider: 'datastore', layout: 'batch' } });
  expect(textOf(comparison(ratio(30), ratio(0.1)), batch)).toMatch(
    /: 3\.0 times .* on Datastore as with the SDK's batches, .*, for 0\.2 of their bill on/,
  );
});

test.each([
  ['drifting', /: 2\.0 times .* \(not judged, as the rates drifted\)/],
  ['too-few-runs', /: 2\.0 times .* \(too few runs to judge\)/],
] as const)('a sentence names a ratio without a verdict: %s', (verdict, wanted) => {
  expect(textOf(comparison(ratio(2, verdict), ratio(0.5)))).toMatch(wanted);
});

test('a sentence calls two rates the same only where their interval shows that, and else has the interval', () => {
  const near = { ...ratio(0.97, 'undecided'), low: 0.86, high: 1.1 };
  expect(textOf(comparison(near, ratio(0.5)))).toMatch(/: as many scans a second on Datastore as with/);
  const wide = { ...ratio(0.69, 'undecided'), low: 0.42, high: 1.2 };
  expect(textOf(comparison(wide, wide))).toMatch(
    /: 0\.69 times as many scans a second \(0\.42 to 1\.2: not told apart\) on Datastore as .*, for 0\.69 of its bill/,
  );
});

test('a sentence is about the same load on both clouds if possible', () => {
  const datastore = [4, 64].map((callers) => comparison(ratio(callers), ratio(0.1), { callers }));
  const azure = comparison(ratio(2), ratio(0.5), onAzure);
  const limited = { ...azure, callers: 64, isMachineLimited: true };
  expect(textOf(...datastore, azure, limited)).toMatch(/: 4\.0 times .* and 2\.0 times .* with 4 callers, for/);
});

test('clouds with different loads have a part of the sentence each', () => {
  const azure = comparison(ratio(1.9), ratio(0.5), { ...onAzure, callers: 16 });
  expect(textOf(comparison(ratio(2), ratio(0.1)), azure)).toMatch(
    /with 4 callers, for 0\.1 of its bill on Datastore; 1\.9 times .* with 16 callers, for 0\.5 of/,
  );
});

test('sentences name the size of records where there are several', () => {
  const large = { recordBytes: 4_096 };
  expect(
    sentencesOf([comparison(ratio(2), ratio(1)), comparison(ratio(2), ratio(1), large)]).map(
      ({ text }) => text.split(':')[0],
    ),
  ).toEqual(['Scanning 1 to 100 records of 500 bytes', 'Scanning 1 to 100 records of 4,096 bytes']);
});

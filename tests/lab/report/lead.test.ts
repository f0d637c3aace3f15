// The sentences and the picture of the first screen.
import { expect, test } from 'vitest';
import { leadOf, pairsOf } from '../../../shared/lab/report/lead.ts';
import { ratioPicture, ratioWords, SHAPES } from '../../../shared/lab/report/ratio-picture.ts';
import { CLOUD_PLACES, sampleReport } from './sample-report.ts';

test('three sentences: what is compared, what it means, how far to trust it', () => {
  const report = sampleReport();
  report.cells[0]!.runs[0]!.isSound = false;
  expect(leadOf(report)).toEqual([
    "The same work (load, ycsb-a and ycsb-c; records of 1,000 random bytes, as YCSB's) on Google Cloud Datastore and Azure Table Storage is laid out as one entity a record, the SDK’s batches and this store’s containers.",
    'Each at its best load, containers are faster than one entity a record in 6 of 6 pairs (30 x); faster than the SDK’s batches in 6 of 6 pairs (2.2 x); billed 0.0067 x what one entity a record is.',
    'Figures are medians of 6 runs on emulators on one machine, so compare layouts and take no rate for a cloud’s; 323 of 324 runs are sound.',
  ]);
});

test('what is slower, and what cannot be told apart, is said', () => {
  const report = sampleReport();
  Object.assign(report.summary[0]!.containerToBatch!, { ratio: 0.44, verdict: 'lower' });
  report.summary[1]!.containerToBatch!.verdict = 'undecided';
  expect(leadOf(report)[1]).toContain('batches in 4 of 6 pairs (2.2 x), slower in 1 (0.44 x), undecided in 1;');
});

test('where nothing can be told apart, nothing is faster', () => {
  expect(leadOf(sampleReport({ repetitions: 2 }))[1]).toMatch(
    /^Each at its best load, containers are not told apart from one entity a record in any of 6 pairs; not told apart from/,
  );
});

test('one run is called one run', () => {
  const { plan } = sampleReport();
  const report = sampleReport({ repetitions: 1, change: { plan: { ...plan, repetitions: 1 } } });
  const [, meaning, trust] = leadOf(report);
  expect(meaning).toMatch(/ are in one run 31 x as fast as one entity a record; in one run 2.3 x as fast as/);
  expect(trust).toMatch(/^Each figure is of one run /);
  expect(ratioWords(pairsOf(report.summary))).toContain('Datastore load, container to record: 31 x, one run; ');
});

test('pairs of several sizes of record are told apart by their size', () => {
  const pairs = pairsOf(sampleReport().summary);
  const large = pairs.map((pair) => ({ ...pair, recordBytes: 4_000 }));
  expect(ratioWords(pairs)).not.toContain('B,');
  expect(ratioWords([...pairs, ...large])).toContain('Datastore load, 4,000 B, container to record: ');
  expect(ratioPicture([...pairs, ...large], SHAPES[0])).toContain('Datastore ycsb-a, 500 B<');
});

test('what has no ratio makes no pair', () => {
  const report = sampleReport();
  for (const row of report.summary) row.containerToBatch = null;
  expect(new Set(pairsOf(report.summary).map(({ other }) => other))).toEqual(new Set(['record']));
  for (const row of report.summary) row.containerToRecord = null;
  expect(leadOf(report)[1]).toContain('there is no ratio');
});

test.each([
  [[...CLOUD_PLACES], 'on the real services;'],
  [[CLOUD_PLACES[0]!, sampleReport().places[1]!], 'on a real service and an emulator, which do not compare;'],
])('where it ran follows from the places', (places, words) => {
  expect(leadOf(sampleReport({ change: { places } }))[2]).toContain(words);
});

test('without figures only what was asked is said', () => {
  expect(leadOf(sampleReport({ cells: [] }))).toHaveLength(1);
});

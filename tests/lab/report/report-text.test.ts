// The report for a terminal, its sentences and goals, and its CSV.
import { describe, expect, test } from 'vitest';
import { against } from '../../../shared/lab/report/against.ts';
import { reportText } from '../../../shared/lab/report/report-text.ts';
import { COORDINATES, sampleCell, sampleReport, unusualCells } from './sample-report.ts';
import type { Ratio } from '../../../shared/lab/kit/figure.ts';
import { sentencesOf } from '../../../shared/lab/report/sentences.ts';
import type { Comparison } from '../../../shared/lab/report/report-schema.ts';
import { comparisonsOf, goalsOf } from '../../../shared/lab/report/comparisons.ts';
import papaparse from 'papaparse';
import { reportCsv } from '../../../shared/lab/report/csv.ts';

describe('the text', () => {
  test('fits into 120 columns with cells of every kind', () => {
    const more = reportText(sampleReport({ cells: [...sampleReport().cells, ...unusualCells({ repetitions: 6 })] }));
    expect(more.split('\n').filter((line) => line.length > 120)).toEqual([]);
    expect(more).toMatch(/container 512 KiB /);
  });

  test('has a table per workload, with a row per layout and columns of rates and bills per load', () => {
    const text = reportText(sampleReport());
    expect(text).toMatch(
      /^Scan a range \(YCSB E\), 500 bytes: scans a second, then dollars per million at the same loads\n +1 caller +4 callers/m,
    );
    expect(text).toMatch(/^ +Datastore container +1,\d\d\d +4,\d\d\d +9,\d\d\d +\(2\d,\d\d\d\) +0\.006 /m);
    expect(text).toContain('In brackets: ');
  });

  test('says what the emulators waited for, and that no cloud was asked', () => {
    const roundTrips = [{ provider: 'azure-tables' as const, readMs: 5, commitMs: 9.5 }];
    const [behind, without] = [{ name: 'cloud', roundTrips }, null].map((network) =>
      reportText(sampleReport({ change: { network } })).replaceAll('\n', ' '),
    );
    expect(behind).toContain(
      'emulators behind a network of 5 ms per read and 9.5 ms per commit (Azure) on this machine; no',
    );
    expect(without).toContain('emulators without a network on this machine; no cloud was asked.');
  });

  test('names failed runs, cells left out, leftover datasets, and why it ended early', () => {
    const shown = reportText(
      sampleReport({
        cells: [sampleCell({}, { repetitions: 4 })],
        change: {
          endedEarly: 'ended by Ctrl-C',
          failures: [{ ...COORDINATES, repetition: 2, error: 'HTTP 503: no' }],
          leftOut: [{ provider: 'datastore', layout: 'batch', workload: 'ycsb-e', why: 'no batched scans' }],
          leftovers: [{ provider: 'datastore', dataset: 'r1', error: 'HTTP 503' }],
          providers: [{ provider: 'azure-tables', ran: false, why: 'not asked for' }],
        },
      }),
    );
    expect(shown).toContain('Ended before its last run: ended by Ctrl-C');
    expect(shown).toContain('FAILED Datastore record, load, 500 B, 1 caller, run 2: HTTP 503: no');
    expect(shown).toContain('Left out: Datastore batch in ycsb-e. no batched scans');
    expect(shown).toContain('Azure Table Storage is left out: not asked for');
    expect(shown).toContain('NOT REMOVED, it is billed: Google Cloud Datastore, r1: HTTP 503');
  });

  test('lists the figures that changed since an earlier report', () => {
    const [before, now] = [1, 2].map((containerFactor) => sampleReport({ containerFactor }));
    const changed = reportText({ ...now!, against: against(now!, before!) });
    expect(changed).toMatch(/Against the report of .*: \d+ of \d+ figures changed with p below 0\.05/);
    expect(changed).toMatch(/Datastore container, load, 500 B, 1 caller +throughput +9,045 +18,090 +2\.0 x +0\.002/);
  });
});

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

const cells = (['record', 'container'] as const).map((layout) =>
  sampleCell({ workload: 'ycsb-c', layout, callers: 32 }, { repetitions: 6 }),
);

test('a comparison meets or misses the goals of its workload and load', () => {
  expect(goalsOf(comparisonsOf(cells, false))).toEqual([
    {
      text: 'Datastore ycsb-c, 32 callers, container to record: rate 30 x, at least 10 x',
      ratio: expect.closeTo(30, 0) as number,
      goal: 10,
      isMet: true,
    },
    {
      text: 'Datastore ycsb-c, 32 callers, container to record: processor 0.33 x, at most 0.15 x',
      ratio: expect.closeTo(1 / 3, 2) as number,
      goal: 0.15,
      isMet: false,
    },
  ]);
});

test.each([{ callers: 7 }, { instances: 2 }])('a comparison under another load is judged by no goal: %j', (load) => {
  const others = cells.map((cell) => ({ ...cell, ...load }));
  expect(goalsOf(comparisonsOf(others, false))).toEqual([]);
});

const rowsOf = (csv: string): Record<string, string>[] =>
  papaparse.parse<Record<string, string>>(csv, { header: true, skipEmptyLines: true }).data;

test('the CSV has a row for each run, with coordinates, figures and places', () => {
  const report = sampleReport();
  const rows = rowsOf(reportCsv(report));
  expect(rows).toHaveLength(report.cells.reduce((sum, { runs }) => sum + runs.length, 0));
  expect(rows[0]).toMatchObject({
    provider: 'datastore',
    layout: 'record',
    workload: 'load',
    containerKib: '',
    repetition: '1',
    recordsPerSecond: String(report.cells[0]!.runs[0]!.recordsPerSecond),
    p999Ms: '',
    retries: '',
    backends: 'embedded emulator',
    commits: '',
  });
  const container = rows.find(({ layout }) => layout === 'container');
  expect(container).toMatchObject({ commits: '90', foreignCommits: '7', readsFirst: '5', yields: '2' });
  expect(container).toMatchObject({ splits: '3', contentionSplits: '1', lostSplits: '1', conflicts: '1' });
});

test('the CSV has errors by code, quoted where necessary, and never as a formula', () => {
  const cell = sampleCell({}, { repetitions: 1 });
  cell.runs[0]!.errors = { '=cmd()': 1, 'a,"b"': 2 };
  const [row] = rowsOf(reportCsv(sampleReport({ cells: [cell] })));
  expect(row).toMatchObject({ failedRecords: '3', errors: `'=cmd()=1 a,"b"=2` });
});

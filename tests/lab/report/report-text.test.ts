// The report for a terminal.
import { describe, expect, test } from 'vitest';
import { against } from '../../../shared/lab/report/against.ts';
import { reportText } from '../../../shared/lab/report/report-text.ts';
import { COORDINATES, sampleCell, sampleReport, unusualCells } from './sample-report.ts';

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

  test('ends with the sentences, and with the number of ratios that differ from 1', () => {
    const report = sampleReport();
    const lines = reportText(report).replaceAll('\n', ' ');
    for (const { text } of report.sentences) expect(lines).toContain(text);
    expect(lines).toMatch(/\d+ of \d+ ratios of rates are told apart from 1\. $/);
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

// The report for a terminal.
import { describe, expect, test } from 'vitest';
import { LAYOUTS } from '../../../shared/lab/kit/dimensions.ts';
import { against } from '../../../shared/lab/report/against.ts';
import { reportText } from '../../../shared/lab/report/text.ts';
import { COORDINATES, sampleCell, sampleReport, unusualCells } from './sample-report.ts';

const text = reportText(sampleReport());

describe('the text', () => {
  test('fits 120 columns, cells of every kind included', () => {
    const more = reportText(sampleReport({ cells: [...sampleReport().cells, ...unusualCells({ repetitions: 6 })] }));
    expect(Math.max(...more.split('\n').map((line) => line.length))).toBeLessThanOrEqual(120);
    expect(more).toMatch(/container 512K +8 callers/);
    expect(more).toMatch(/1,600\/s offered/);
    expect(more).toMatch(/4 x 8 callers/);
  });

  test('gives each rate its interval, and the best of each its ratios', () => {
    expect(text).toMatch(/datastore +container +32 callers +72,360 +69,840 to 74,880/);
    expect(text).toMatch(/datastore +load 500B +2,412 \(x32\) +32,160 \(x32\) +72,360 \(x32\)$/m);
    expect(text).toMatch(/datastore +load 500B +30 x +2\.2 x$/m);
  });

  test('has a ratio to batch of calls of its size alone, and tells packing from transport', () => {
    const batched = ['batch', 'container-batch'];
    const cells = LAYOUTS.map((layout) => ({
      ...sampleCell({ workload: 'ycsb-a', layout }, { repetitions: 6 }),
      recordsPerCall: batched.includes(layout) ? 500 : 1,
    }));
    const all = reportText(sampleReport({ cells }));
    expect(all).toMatch(
      /its ratios +workload +container to record +container to batch +container to driver +driver to SDK/,
    );
    expect(all).toMatch(/datastore +ycsb-a 500B +30 x +2\.4 x +15 x +2\.0 x$/m);
    expect(Math.max(...all.split('\n').map((line) => line.length))).toBeLessThanOrEqual(120);
    const without = reportText(sampleReport({ cells: cells.filter(({ layout }) => layout !== 'container-batch') }));
    expect(without).toMatch(/datastore +ycsb-a 500B +30 x +calls differ +15 x +2\.0 x$/m);
  });

  test('names the rate of an open loop, and says nothing of ratios whose layouts did not run', () => {
    const open = sampleCell({ workload: 'ycsb-a', layout: 'container', ratePerSecond: 400 }, { repetitions: 6 });
    expect(reportText(sampleReport({ cells: [open] }))).toMatch(/ycsb-a 500B +\d+ \(400\/s\)$/m);
    const cells = (['record', 'driver'] as const).map((layout) => sampleCell({ layout }, { repetitions: 6 }));
    expect(reportText(sampleReport({ cells }))).not.toMatch(/driver to SDK|calls differ/);
  });

  test('marks what cannot be told apart', () => {
    const level = reportText(sampleReport({ containerFactor: 0.45 }));
    expect(level).toMatch(/datastore +load 500B +1[34] x +(1\.0|0\.99) x \?$/m);
    expect(text).not.toMatch(/ x \?$/m);
  });

  test('names what failed, was left out, is left over, and why it ended', () => {
    const cell = sampleCell({}, { repetitions: 4 });
    const shown = reportText(
      sampleReport({
        cells: [cell],
        change: {
          endedEarly: 'ended by Ctrl-C',
          failures: [{ ...COORDINATES, repetition: 2, error: 'HTTP 503: no' }],
          leftOut: [{ provider: 'datastore', layout: 'batch', workload: 'ycsb-e', why: 'no batched scans' }],
          leftovers: [{ provider: 'datastore', dataset: 'r1', error: 'HTTP 503' }],
          providers: [{ provider: 'azure-tables', ran: false, why: 'not asked for' }],
        },
      }),
    );
    expect(shown).toContain('ENDED BEFORE ITS LAST RUN: ended by Ctrl-C');
    expect(shown).toContain('Datastore record, load, 500 B, 1 caller, run 2: HTTP 503: no');
    expect(shown).toContain('Left out: datastore batch, ycsb-e: no batched scans');
    expect(shown).toContain('Left out: Azure Table Storage: not asked for');
    expect(shown).toMatch(/NOT REMOVED, delete it yourself:\n {2}datastore r1: HTTP 503/);
  });

  test('lists what changed since an earlier report', () => {
    const [before, now] = [1, 2].map((containerFactor) => sampleReport({ containerFactor }));
    const changed = reportText({ ...now!, against: against(now!, before!) });
    expect(changed).toMatch(
      /Against the report of .*: \d+ of \d+ figures changed by more than chance \(Mann-Whitney, p < 0\.05\)/,
    );
    expect(changed).toMatch(/Datastore container, load, 500 B, 1 caller +throughput +9,045 +18,090 +2\.0 x +0\.002/);
  });
});

import papaparse from 'papaparse';
import { expect, test } from 'vitest';
import { reportCsv } from '../../../shared/lab/report/csv.ts';
import { sampleCell, sampleReport } from './sample-report.ts';

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

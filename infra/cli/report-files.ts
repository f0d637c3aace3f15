// Writes the report as data and as a page, and keeps those of earlier comparisons: each has a
// folder named after when it began.
import { cp, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { withReport } from '../../shared/lab/page/link.ts';
import { reportCsv } from '../../shared/lab/report/csv.ts';
import {
  type Report,
  REPORT_SCHEMA_VERSION,
  reportJsonSchema,
  reportSchema,
} from '../../shared/lab/report/report-schema.ts';
import { pageText } from '../package/bundle-page.ts';
import { readText } from './terminal-text.ts';

/**
 * Writes `compare.json`, `.html`, `.csv` and `.schema.json` to a folder of their own in `folder`,
 * copies them to `folder`, and returns the copies' paths. Throws if the report breaks its schema.
 */
export async function writeReport(report: Report, folder: string): Promise<string[]> {
  const checked = reportSchema.parse(report);
  const own = path.join(folder, checked.startedAt.replaceAll(/[:.]/g, '-'));
  const texts: Readonly<Record<string, string>> = {
    'compare.json': jsonText(checked),
    'compare.html': withReport(await pageText(), checked),
    'compare.csv': reportCsv(checked),
    'compare.schema.json': jsonText(reportJsonSchema()),
  };
  await mkdir(own, { recursive: true });
  for (const [name, text] of Object.entries(texts)) await writeFile(path.join(own, name), text);
  await cp(own, folder, { recursive: true });
  return Object.keys(texts).map((name) => path.join(folder, name));
}

/** Reads an earlier report. Throws an error that says what is wrong with the file. */
export async function readReport(file: string): Promise<Report> {
  const json: unknown = JSON.parse(await readText(file));
  const version = (json as { schemaVersion?: unknown } | null)?.schemaVersion;
  if (version !== REPORT_SCHEMA_VERSION)
    throw new TypeError(
      `${file} has schema version ${JSON.stringify(version)}, this compares reports of version ${REPORT_SCHEMA_VERSION}`,
    );
  return reportSchema.parse(json);
}

function jsonText(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

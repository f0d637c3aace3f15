// Writes the report as data and as a page.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { reportHtml } from '../../shared/compare/report/html.ts';
import { type Report, reportSchema } from '../../shared/compare/report/schema.ts';

/** Writes the report and returns the full paths of `compare.json` and `compare.html`. Throws, with nothing written, if it breaks the schema. */
export async function writeReport(report: Report, folder: string): Promise<string[]> {
  const checked = reportSchema.parse(report);
  await mkdir(folder, { recursive: true });
  const json = path.join(folder, 'compare.json');
  const html = path.join(folder, 'compare.html');
  await writeFile(json, `${JSON.stringify(checked, undefined, 2)}\n`);
  await writeFile(html, reportHtml(checked));
  return [json, html];
}

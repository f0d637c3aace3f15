// Writes the report as data and as a page.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { reportHtml } from '../../shared/compare/report/html.ts';
import { type Report, reportSchema } from '../../shared/compare/report/schema.ts';

/** Writes the report and returns the full paths of `compare.json` and `compare.html`. Throws, with nothing written, if it breaks the schema. */
export async function writeReport(report: Report, folder: string): Promise<string[]> {
  return await writeFiles(reportSchema.parse(report), path.join(folder, 'compare'), reportHtml);
}

/** Writes `<base>.json` and `<base>.html`, the report as `draw` shows it, and returns their full paths. */
export async function writeFiles<Kind>(report: Kind, base: string, draw: (report: Kind) => string): Promise<string[]> {
  await mkdir(path.dirname(base), { recursive: true });
  const [json, html] = [`${base}.json`, `${base}.html`];
  await writeFile(json, `${JSON.stringify(report, undefined, 2)}\n`);
  await writeFile(html, draw(report));
  return [json, html];
}

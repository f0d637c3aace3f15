// Writes the report as data and as a page.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { experimentsHtml } from './html.ts';
import type { ExperimentsReport } from './schema.ts';

/** Returns the full paths of `experiments.json` and `experiments.html`. */
export async function writeExperiments(report: ExperimentsReport, folder: string): Promise<string[]> {
  const html = experimentsHtml(report);
  await mkdir(folder, { recursive: true });
  const jsonFile = path.join(folder, 'experiments.json');
  const htmlFile = path.join(folder, 'experiments.html');
  await writeFile(jsonFile, `${JSON.stringify(report, undefined, 2)}\n`);
  await writeFile(htmlFile, html);
  return [jsonFile, htmlFile];
}

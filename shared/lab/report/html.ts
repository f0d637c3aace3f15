// The report as one self-contained HTML page without script.
import { WORKLOADS } from '../kit/dimensions.ts';
import { leadHtml } from './html-lead.ts';
import { methodHtml } from './html-method.ts';
import { page } from './html-parts.ts';
import { againstHtml, searchesHtml, summaryHtml } from './html-summary.ts';
import { workloadHtml } from './html-workload.ts';
import type { Report } from './schema.ts';

export function reportHtml(report: Report): string {
  return page(`Stowage: comparison of ${report.startedAt.slice(0, 10)}`, reportBody(report));
}

export function reportBody(report: Report): string {
  const workloads = WORKLOADS.filter((workload) => report.cells.some((cell) => cell.workload === workload));
  const links = [...workloads, 'method'].map((id) => `<a href="#${id}">${id}</a>`);
  return [
    leadHtml(report),
    `<nav aria-label="Sections">${links.join(' ')}</nav>`,
    againstHtml(report),
    summaryHtml(report),
    searchesHtml(report),
    ...workloads.map((workload) => workloadHtml(report, workload)),
    methodHtml(report),
  ].join('\n');
}

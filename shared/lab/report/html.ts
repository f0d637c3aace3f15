// The report as one self-contained HTML page: SVG charts and tables, no script, nothing loaded from anywhere.
import { type Workload, WORKLOADS } from '../kit/dimensions.ts';
import { headHtml } from './html-head.ts';
import { COMPARISON_STYLE } from './style.ts';
import { page } from './html-parts.ts';
import { provenanceHtml } from './html-provenance.ts';
import { againstHtml, searchesHtml, summaryHtml } from './html-summary.ts';
import { workloadHtml } from './html-workload.ts';
import type { Report } from './schema.ts';

/** The whole document. */
export function reportHtml(report: Report): string {
  return page(`Stowage: comparison of ${report.startedAt.slice(0, 10)}`, reportBody(report), COMPARISON_STYLE);
}

/** What stands in its body. */
export function reportBody(report: Report): string {
  const workloads = workloadsIn(report);
  return [
    headHtml(report),
    contents(report, workloads),
    againstHtml(report),
    summaryHtml(report),
    searchesHtml(report),
    ...workloads.map((workload) => workloadHtml(report, workload)),
    provenanceHtml(report),
  ].join('\n');
}

function workloadsIn({ cells }: Report): Workload[] {
  return WORKLOADS.filter((workload) => cells.some((cell) => cell.workload === workload));
}

function contents({ against, searches, leftOut, providers }: Report, workloads: readonly Workload[]): string {
  const sections: readonly (readonly [id: string, title: string, isThere: boolean])[] = [
    ['against', 'changes', against !== undefined],
    ['best', 'best of each', workloads.length > 0],
    ['searches', 'rates held', searches.length > 0],
    ...workloads.map((workload) => [workload, workload, true] as const),
    ['left-out', 'left out', leftOut.length > 0 || providers.some(({ ran }) => !ran)],
    ['where', 'where it ran', true],
    ['reading', 'how to read this', true],
    ['repeat', 'how to repeat it', true],
  ];
  const links = sections.filter(([, , isThere]) => isThere).map(([id, title]) => `<a href="#${id}">${title}</a>`);
  return `<nav aria-label="Sections">${links.join(' ')}</nav>`;
}

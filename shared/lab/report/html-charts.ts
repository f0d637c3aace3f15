// Charts in their captions, in the shapes that a page needs, each told in words beside it; and the legend that they share.
import { type Shape, SHAPES } from './chart-panels.ts';
import { type Chart, chartWords, layoutsIn, providersIn } from './charts.ts';
import { courseChart } from './course-chart.ts';
import { coursesOf, courseWords } from './courses.ts';
import { escape } from '../kit/html.ts';
import { mark } from './html-parts.ts';
import { PROVIDER_SHORT_NAMES } from './names.ts';
import type { ReportCell } from './schema.ts';
import { xyChart } from './xy-chart.ts';

export function chartHtml(chart: Chart): string {
  return captioned({
    title: chart.title,
    key: `(${chart.yName}; both scales logarithmic). ${chart.key}`,
    words: chartWords(chart),
    draw: (shape) => xyChart(chart, shape),
  });
}

interface Captioned {
  readonly title: string;
  readonly key: string;
  /** For whoever does not see it. */
  readonly words: string;
  readonly draw: (shape: Shape) => string;
}

/** In each shape; the style shows the one that fits. */
function captioned({ title, key, words, draw }: Captioned): string {
  const drawn = SHAPES.map((shape) => `<div class="${shape.name}" aria-hidden="true">${draw(shape)}</div>`);
  return `<figure><figcaption><b>${escape(title)}</b> ${escape(key)}</figcaption>
<div role="img" aria-label="${escape(words)}">${drawn.join('')}</div></figure>`;
}

const COURSE_KEY =
  '(records a second by when replies came; the scale is logarithmic). Thick: the median of the runs. Thin: each run, its warm-up first. Gaps: steps without a reply.';

/** How each load went over time; empty where no run had a whole step. */
export function coursesHtml(cells: readonly ReportCell[]): string {
  const charts = coursesOf(cells);
  if (charts.length === 0) return '';
  const figures = charts.map((chart) =>
    captioned({
      title: chart.title,
      key: COURSE_KEY,
      words: courseWords(chart),
      draw: (shape) => courseChart(chart, shape),
    }),
  );
  return `<details><summary>Throughput over time, at each load</summary>${figures.join('')}</details>`;
}

export function legendHtml(cells: readonly ReportCell[]): string {
  const groups = providersIn(cells).map((provider) => {
    const layouts = layoutsIn(cells.filter((cell) => cell.provider === provider));
    const keys = layouts.map((layout) => `<span class="key">${mark(provider, layout)} ${layout}</span>`);
    return `<span><b>${PROVIDER_SHORT_NAMES[provider]}</b> ${keys.join(' ')}</span>`;
  });
  return `<p class="legend">${groups.join(' ')} <span class="key">Bars: the interval of a median.</span></p>`;
}

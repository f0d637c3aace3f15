// The one page of a comparison. It shows the report that it contains. Without a report it is the
// live page of a function: a form, and the same picture of what it measures.
import type { Report } from '../report/report-schema.ts';
import { byId } from './dom.ts';
import { draw, drawCurves } from './draw.ts';
import { startLive } from './live.ts';

/** Copied before anything is drawn, for reports that a reader downloads. */
const html = `<!doctype html>\n${document.documentElement.outerHTML}`;

const data = byId('data').textContent.trim();
if (data === '') startLive(html);
else draw(JSON.parse(data) as Report);

byId('measures').addEventListener('change', drawCurves);

let width = 0;
new ResizeObserver(() => {
  if (byId('rows').clientWidth === width) return;
  width = byId('rows').clientWidth;
  drawCurves();
}).observe(byId('rows'));

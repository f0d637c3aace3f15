// The first screen of the report's page: three sentences, one picture, and warnings.
import { escape } from '../kit/html.ts';
import { mark, noteHtml } from './html-parts.ts';
import { isOneRun, leadOf, type Pair, pairsOf } from './lead.ts';
import { failureWords, PROVIDER_NAMES, PROVIDER_SHORT_NAMES, ranWords } from './names.ts';
import { ratioPicture, ratioWords, SHAPES } from './ratio-picture.ts';
import type { Report } from './schema.ts';
import { disturbances, unlikePlaces, whereWords } from './warnings.ts';

export function leadHtml(report: Report): string {
  const { plan, places } = report;
  return `<header>
<h1>Stowage: a container store against the SDKs</h1>
<p class="lead">${escape(leadOf(report).join(' '))}</p>
${pictureHtml(pairsOf(report.summary))}
<p class="words">Plan <i>${escape(plan.name)}</i>, seed ${plan.seed}, begun ${escape(ranWords(report))}.</p>
${places.length === 0 ? noteHtml('No figures', [whereWords(places)], 'warning') : ''}</header>
${warningsHtml(report)}`;
}

/** In each shape: the style shows the one that fits. Empty without a pair. */
export function pictureHtml(pairs: readonly Pair[]): string {
  if (pairs.length === 0) return '';
  const others = [...new Set(pairs.map(({ other }) => other))];
  const keys = others.map((other) => ` <span class="key">${mark(pairs[0]!.provider, other)} ${other}</span>`);
  const bars = pairs.every(({ ratio }) => isOneRun(ratio))
    ? 'faint: one run'
    : 'bars: the interval of the ratio; faint with ?: cannot be told apart';
  const drawn = SHAPES.map(
    (shape) => `<div class="${shape.name}" aria-hidden="true">${ratioPicture(pairs, shape)}</div>`,
  );
  return `<figure><figcaption><b>How many times their records a second the container layout has</b> (logarithmic; ${bars}). Against${keys.join('')}</figcaption>
<div role="img" aria-label="${escape(ratioWords(pairs))}">${drawn.join('')}</div></figure>`;
}

function warningsHtml(report: Report): string {
  const { endedEarly, failures, leftovers, leftOut, providers } = report;
  const left = leftovers.map(({ provider, dataset, error }) => `${PROVIDER_NAMES[provider]}, ${dataset}: ${error}`);
  const absent = providers.filter(({ ran }) => !ran).map(({ provider, why }) => `${PROVIDER_NAMES[provider]}: ${why}`);
  const untried = leftOut.map(
    ({ provider, layout, workload, why }) => `${PROVIDER_SHORT_NAMES[provider]} ${layout}, ${workload}: ${why}`,
  );
  return [
    noteHtml('Ended before its last run', endedEarly === null ? [] : [endedEarly], 'warning'),
    noteHtml('Compare with care', [...unlikePlaces(report.places), ...disturbances(report)], 'warning'),
    noteHtml(`Runs that failed, while the others went on: ${failures.length}`, failures.map(failureWords), 'warning'),
    noteHtml('Not removed: delete it yourself, it is billed', left, 'warning'),
    noteHtml('Left out', [...absent, ...untried], 'fact'),
  ].join('');
}

// The top of the report's page: what was compared, where, and what a reader must know before any figure.
import { USERS_LAYOUTS } from '../kit/dimensions.ts';
import { providersIn } from './charts.ts';
import { escape } from '../kit/html.ts';
import { PROVIDER_NAMES } from './names.ts';
import type { Report } from './schema.ts';
import { disturbances, isEmulated, unlikePlaces, whereWords } from './warnings.ts';
import { cellWords, list, recordWords } from './words.ts';

export function headHtml(report: Report): string {
  const { plan, cells, startedAt, durationMs, places } = report;
  const clouds = providersIn(cells).map((provider) => PROVIDER_NAMES[provider]);
  const began = startedAt.replace('T', ' ').slice(0, 16);
  return `<header>
<h1>Stowage: ${clouds.length === 0 ? 'a comparison without figures' : escape(list(clouds))}</h1>
<p>${plan.layouts.join() === USERS_LAYOUTS.join() ? 'One entity a record, the SDK’s own batches, and this container store' : `The layouts ${escape(list(plan.layouts))}`}, under the
same work. Plan <i>${escape(plan.name)}</i>: ${escape(list(plan.workloads))}; ${escape(recordWords(plan))};
${plan.repetitions} ${plan.repetitions === 1 ? 'run' : 'runs'} of each cell, in an order drawn from the seed ${plan.seed}.
Begun ${escape(began)} UTC, took ${escape(lengthWords(durationMs))}.</p>
${noteHtml('Where it ran', [whereWords(places)], isEmulated(places) ? 'caveat' : 'fact')}
</header>
${warningsHtml(report)}`;
}

/** `45 s`, `12 min`. */
function lengthWords(durationMs: number): string {
  const seconds = Math.round(durationMs / 1_000);
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}

function warningsHtml(report: Report): string {
  const { endedEarly, failures, leftovers } = report;
  const left = leftovers.map(({ provider, dataset, error }) => `${PROVIDER_NAMES[provider]}, ${dataset}: ${error}`);
  return [
    endedEarly === null ? '' : noteHtml('Ended before its last run', [endedEarly], 'warning'),
    noteHtml('Compare with care', [...unlikePlaces(report.places), ...disturbances(report)], 'warning'),
    noteHtml(
      `Runs that failed, while the others went on: ${failures.length}`,
      failures.map((failure) => `${cellWords(failure)}, run ${failure.repetition}: ${failure.error}`),
      'warning',
    ),
    noteHtml('Not removed: delete it yourself, it is billed', left, 'warning'),
  ].join('');
}

/** A box with a heading and a line or a list; nothing without lines. */
function noteHtml(title: string, lines: readonly string[], kind: 'fact' | 'caveat' | 'warning'): string {
  if (lines.length === 0) return '';
  const body =
    lines.length === 1
      ? ` ${escape(lines[0]!)}`
      : `<ul>${lines.map((line) => `<li>${escape(line)}</li>`).join('')}</ul>`;
  return `<div class="note ${kind}"><b>${escape(title)}.</b>${body}</div>`;
}

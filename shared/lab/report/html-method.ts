// The end of the report's page, folded: how to read it, where it ran, how to do it again.
import type { Place } from '../load/place.ts';
import { escape, tableHtml } from '../kit/html.ts';
import { columnsOf, folded } from './html-parts.ts';
import { commitWords, machineWords, PROVIDER_NAMES, PROVIDER_SHORT_NAMES, versionWords } from './names.ts';
import type { Report } from './schema.ts';
import { whereWords } from './warnings.ts';

export function methodHtml(report: Report): string {
  const { notes, places } = report;
  const answered = `${places.length} ${places.length === 1 ? 'instance' : 'instances'}`;
  return `<section id="method"><h2>Method</h2>
${folded('How to read this', `<ul>${notes.map((note) => `<li>${escape(note)}</li>`).join('')}</ul>${pricesHtml(report)}`)}
${folded(`Where it ran: ${answered}, by their own word`, `<p>${escape(whereWords(places))}</p>${placesTable(places)}${coordinatorHtml(report)}`)}
${folded('How to repeat it', repeatHtml(report))}</section>`;
}

function placesTable(places: readonly Place[]): string {
  return tableHtml({
    caption: 'Function instances that ran cells',
    columns: columnsOf(['Instance', 'answered by', 'platform', 'processors', 'runtime', 'versions'], []),
    rows: places.map((place) => [
      `${PROVIDER_SHORT_NAMES[place.provider]} <small>${escape(place.instanceId)}</small>`,
      `${escape(place.backend)}${place.isEmulator ? ' <small>emulated</small>' : ''}`,
      `${escape(place.platform)} <small>${escape(place.region ?? 'region not told')}</small>`,
      `${place.processors ?? '?'}, ${place.memoryBytes === null ? '?' : Math.round(place.memoryBytes / 2 ** 20)} MiB <small>${escape(place.processorModel)}</small>`,
      `${escape(place.runtime)} <small>${escape(place.system)}</small>`,
      `<small>commit ${escape(commitWords(place.commit))}, ${escape(versionWords(place.versions))}</small>`,
    ]),
  });
}

function coordinatorHtml({ coordinator, versions, commit }: Report): string {
  const facts = `${machineWords(coordinator)}, commit ${commitWords(commit)}`;
  return `<p class="words">What asked for the cells, and measured nothing: ${escape(facts)}. <small>${escape(versionWords(versions))}</small></p>`;
}

function pricesHtml({ prices, places }: Report): string {
  const providers = [...new Set(places.map(({ provider }) => provider))];
  const items = providers.map((provider) => {
    const { region, billed, source } = prices.providers[provider];
    return `<li>${PROVIDER_NAMES[provider]} (${escape(region)}) bills ${escape(billed)}: <a href="${escape(source)}">price list</a></li>`;
  });
  return `<p>Dollars are list prices of ${escape(prices.date)}, operations alone: no storage, no traffic, no functions.</p><ul>${items.join('')}</ul>`;
}

function repeatHtml({ command, plan }: Report): string {
  const again = command === null ? '' : `<p>With the same seed:</p><pre tabindex="0">${escape(command)}</pre>`;
  return `${again}<p>The plan, for a file that <code>stowage compare</code> takes:</p><pre tabindex="0">${escape(JSON.stringify(plan, undefined, 2))}</pre>
<p class="words">Beside this page, compare.json has every figure with its runs (compare.schema.json describes it), compare.csv a row for each run.</p>`;
}

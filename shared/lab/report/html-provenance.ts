// The end of the report's page: where every figure came from, what is missing, and how to do it again.
import type { Place } from '../load/place.ts';
import { escape } from '../kit/html.ts';
import { tableHtml } from '../kit/html-table.ts';
import { PROVIDER_NAMES, PROVIDER_SHORT_NAMES } from './names.ts';
import type { Report } from './schema.ts';
import { commitWords } from './words.ts';

export function provenanceHtml(report: Report): string {
  return `${leftOutHtml(report)}
<section id="where"><h2>Where it ran</h2>
<p class="words">Each function told this of itself. ${report.places.length} ${report.places.length === 1 ? 'instance' : 'instances'} answered.</p>
${placesTable(report.places)}
${coordinatorHtml(report)}</section>
<section id="reading"><h2>How to read this</h2><ul>${report.notes.map((note) => `<li>${escape(note)}</li>`).join('')}</ul>
${pricesHtml(report)}</section>
${repeatHtml(report)}`;
}

function leftOutHtml({ leftOut, providers }: Report): string {
  const items = [
    ...providers.filter(({ ran }) => !ran).map(({ provider, why }) => `${PROVIDER_NAMES[provider]}: ${why}`),
    ...leftOut.map(
      ({ provider, layout, workload, why }) => `${PROVIDER_SHORT_NAMES[provider]} ${layout}, ${workload}: ${why}`,
    ),
  ];
  if (items.length === 0) return '';
  return `<section id="left-out"><h2>What was left out</h2><ul>${items.map((item) => `<li>${escape(item)}</li>`).join('')}</ul></section>`;
}

const PLACE_COLUMNS = [
  'Instance',
  'answered by',
  'platform',
  'region',
  'processors',
  'memory',
  'runtime',
  'system',
  'versions',
  'commit',
];

function placesTable(places: readonly Place[]): string {
  return tableHtml({
    caption: 'Function instances that ran cells',
    columns: PLACE_COLUMNS.map((title) => ({ title })),
    rows: places.map((place) => [
      `${PROVIDER_SHORT_NAMES[place.provider]} <small>${escape(place.instanceId)}</small>`,
      `${escape(place.backend)}${place.isEmulator ? ' <small>emulated</small>' : ''}`,
      escape(place.platform),
      escape(place.region ?? 'not told'),
      `${place.processors ?? '?'} <small>${escape(place.processorModel)}</small>`,
      place.memoryBytes === null ? 'not told' : `${Math.round(place.memoryBytes / 2 ** 20)} MiB`,
      escape(place.runtime),
      escape(place.system),
      versionsHtml(place.versions),
      escape(commitWords(place.commit)),
    ]),
  });
}

function versionsHtml(versions: Readonly<Record<string, string>>): string {
  return `<small>${Object.entries(versions)
    .map(([name, version]) => escape(`${name} ${version}`))
    .join(', ')}</small>`;
}

function coordinatorHtml({ coordinator, versions, commit }: Report): string {
  const { cpu, cores, memoryBytes, platform, node } = coordinator;
  return `<p class="words">What asked for the cells, and measured nothing: ${cores} x ${escape(cpu)}, ${memoryBytes === 0 ? '' : `${Math.round(memoryBytes / 2 ** 30)} GiB, `}${escape(platform)},
${escape(/^\d/.test(node) ? `Node.js ${node}` : node)}, commit ${escape(commitWords(commit))}${versionsAfter(versions)}</p>`;
}

function versionsAfter(versions: Readonly<Record<string, string>>): string {
  return Object.keys(versions).length === 0 ? '.' : `; ${versionsHtml(versions)}`;
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
  const again = command === null ? '' : `<p>Again, with the same seed:</p><pre tabindex="0">${escape(command)}</pre>`;
  return `<section id="repeat"><h2>How to repeat it</h2>${again}
<details><summary>The plan as JSON, for a file that <code>stowage compare</code> takes</summary><pre tabindex="0">${escape(JSON.stringify(plan, undefined, 2))}</pre></details>
<p class="words">compare.json beside this page has every figure with its runs, their histograms and their course over time (compare.schema.json describes it);
compare.csv has a row for each run.</p></section>`;
}

// The live page: the coordinator of `npm start` in a browser, drawn while it runs. It remembers the
// datasets that it made until they are removed, because a tab may be closed before. It stores no
// keys.
import { PRICES_2026_11 } from '../cost/prices-2026-11.ts';
import { type Provider, PROVIDERS } from '../kit/dimensions.ts';
import { groupsOf, type Plan } from '../plan/plan.ts';
import { runPlan } from '../plan/coordinator.ts';
import { checkEndpoint, type Endpoint, messageOf, NoAnswerError } from '../plan/endpoint.ts';
import type { CellRun, FailedRun, PlanEvent, PlanOutcome } from '../plan/outcome.ts';
import { reportCsv } from '../report/csv.ts';
import { cellWords, PROVIDER_NAMES } from '../report/names.ts';
import { reportOf } from '../report/report.ts';
import type { Circumstances, Report } from '../report/report-schema.ts';
import { byId, say } from './dom.ts';
import { draw } from './draw.ts';
import { withReport } from './link.ts';
import { FormError, PlanForm } from './form.ts';

/** Drawing takes processor time, which the functions may share. */
const DRAWN_EVERY_MS = 2_000;

let cancelled = new AbortController();

/** `html`: this page as it came. */
export function startLive(html: string): void {
  byId('live').hidden = false;
  const own = PROVIDERS.find((provider) => provider === document.documentElement.dataset['provider']);
  const form = new PlanForm(byId('form') as HTMLFormElement, own);
  form.element.addEventListener('input', () => sayHowMuch(form));
  form.element.addEventListener('submit', (event) => {
    event.preventDefault();
    void compare(form, html);
  });
  byId('cancel').addEventListener('click', () => cancelled.abort(new Error('cancelled')));
  byId('made')
    .querySelector('button')!
    .addEventListener('click', () => {
      forget(notGone());
      showNotGone();
    });
  sayHowMuch(form);
  showNotGone();
}

/** Asks before the tab closes, because the data of a running comparison would stay. */
function warnOfLeaving(event: Event): void {
  event.preventDefault();
}

/** Never rejects. */
async function compare(form: PlanForm, html: string): Promise<void> {
  say('problem', '');
  const cancel = byId('cancel') as HTMLButtonElement;
  cancelled = new AbortController();
  try {
    const [plan, endpoints] = [form.plan(), form.endpoints()];
    form.lock(true);
    cancel.disabled = false;
    byId('downloads').hidden = byId('made').hidden = true;
    addEventListener('beforeunload', warnOfLeaving);
    await Promise.all(endpoints.map((endpoint) => check(endpoint, cancelled.signal)));
    const report = await run(plan, endpoints, cancelled.signal);
    draw(report);
    offer(report, html);
  } catch (error) {
    say('problem', error instanceof FormError ? error.message : `This page failed: ${String(error)}`);
  } finally {
    removeEventListener('beforeunload', warnOfLeaving);
    form.lock(false);
    cancel.disabled = true;
    showNotGone();
  }
}

/** Before anything is made: whether address, gate and key are right. Throws a FormError. */
async function check(endpoint: Endpoint, signal: AbortSignal): Promise<void> {
  try {
    await checkEndpoint({ endpoint, instance: 0, signal, fetch });
  } catch (error) {
    // Browsers do not tell a missing answer from one that CORS keeps from the page.
    const isUnread = error instanceof NoAnswerError && error.cause instanceof TypeError;
    const unread = `${endpoint.urls[0]} gave no answer that this page may read: is the address right, and the platform's own key or token?`;
    const words = isUnread ? unread : messageOf(error);
    throw new FormError(`${PROVIDER_NAMES[endpoint.provider]}: ${words}`, { cause: error });
  }
}

async function run(plan: Plan, endpoints: readonly Endpoint[], signal: AbortSignal): Promise<Report> {
  const started = new Date();
  const [runs, failures]: [CellRun[], FailedRun[]] = [[], []];
  const reported = (outcome: PlanOutcome): Report =>
    reportOf(outcome, plan, PRICES_2026_11, circumstancesOf(started, endpoints));
  let timer: ReturnType<typeof setTimeout> | undefined;
  const drawSoFar = (): void => {
    timer = undefined;
    draw(reported({ runs, failures, searches: [], leftOut: [], leftovers: [], endedEarly: 'still running' }));
  };
  const outcome = await runPlan(plan, `p${started.getTime().toString(36)}`, {
    endpoints,
    signal,
    onEvent: (event) => {
      note(event, (provider) => endpoints.find((one) => one.provider === provider)!.urls[0]);
      if (event.kind === 'ended') runs.push(event.run);
      if (event.kind === 'failed') failures.push(event.failure);
      if ('dataset' in event) return;
      say('status', eventWords(event));
      if ('done' in event) Object.assign(byId('progress'), { hidden: false, max: event.total, value: event.done });
      if (event.kind === 'ended' || event.kind === 'failed') timer ??= setTimeout(drawSoFar, DRAWN_EVERY_MS);
    },
  });
  clearTimeout(timer);
  return reported(outcome);
}

function eventWords(event: Exclude<PlanEvent, { readonly dataset: string }>): string {
  if ('what' in event) return `${event.kind === 'preparing' ? 'Loading' : 'Removing'} ${event.what} …`;
  const done = `${event.done} of ${event.total} runs`;
  return event.kind === 'begun' ? `${done}: ${cellWords(event.cell)}, run ${event.repetition} …` : `${done}.`;
}

/** The report to keep: as a page like this one, as data, and as a table of its runs. */
function offer(report: Report, html: string): void {
  const files = [
    new Blob([withReport(html, report)], { type: 'text/html' }),
    new Blob([JSON.stringify(report, undefined, 2)], { type: 'application/json' }),
    new Blob([reportCsv(report)], { type: 'text/csv' }),
  ];
  for (const [at, link] of byId('downloads').querySelectorAll('a').entries()) {
    URL.revokeObjectURL(link.href);
    link.href = URL.createObjectURL(files[at]!);
  }
  byId('downloads').hidden = false;
  const ending = report.endedEarly === null ? 'Done' : `Ended early: ${report.endedEarly}`;
  const left = report.leftovers.length === 0 ? 'What was made is removed.' : 'NOT everything was removed.';
  say('status', `${ending}. ${left}`);
}

function showNotGone(): void {
  const left = notGone();
  byId('made').hidden = left.length === 0;
  byId('made').querySelector('pre')!.textContent = left.map(commandOf).join('\n');
}

function sayHowMuch(form: PlanForm): void {
  try {
    const plan = form.plan();
    const groups = groupsOf(plan, PROVIDERS).length;
    const seconds = (groups * (plan.durationMs + plan.warmup.leastMs)) / 1_000;
    const length = seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`;
    say('size', `${length} at least on both clouds`);
  } catch (error) {
    // A wrong entry is reported when the comparison starts.
    if (!(error instanceof FormError)) throw error;
    say('size', '');
  }
}

function circumstancesOf(started: Date, endpoints: readonly Endpoint[]): Circumstances {
  return {
    startedAt: started.toISOString(),
    durationMs: Date.now() - started.getTime(),
    coordinator: {
      cpu: 'processor not told',
      cores: navigator.hardwareConcurrency,
      memoryBytes: 0,
      platform: 'the live page in a browser',
      node: navigator.userAgent,
    },
    versions: {},
    commit: null,
    command: null,
    // No function tells whether its emulator has a network; `npm run dev` starts none.
    network: null,
    providers: PROVIDERS.map((provider: Provider) => {
      const ran = endpoints.some((endpoint) => endpoint.provider === provider);
      return { provider, ran, why: ran ? 'chosen' : 'not chosen' };
    }),
  };
}

/** A space stands neither in an address nor in a dataset's name. */
const MARK = 'stowage-made ';

/** A dataset, and the address of the function that removes it. */
export interface Made {
  readonly url: string;
  readonly dataset: string;
}

function note(event: PlanEvent, urlOf: (provider: Provider) => string): void {
  if (event.kind !== 'making' && event.kind !== 'gone') return;
  const name = nameOf({ url: urlOf(event.provider), dataset: event.dataset });
  if (event.kind === 'making') localStorage.setItem(name, '');
  else localStorage.removeItem(name);
}

/** Datasets not removed yet, also those of a run in another tab. */
function notGone(): Made[] {
  return Object.keys(localStorage).flatMap((name) => {
    if (!name.startsWith(MARK)) return [];
    const [url = '', dataset = ''] = name.slice(MARK.length).split(' ');
    return [{ url, dataset }];
  });
}

function forget(made: readonly Made[]): void {
  for (const one of made) localStorage.removeItem(nameOf(one));
}

/** For a shell: `H` is the header with the key, `GATE` that of the platform's gate. */
function commandOf({ url, dataset }: Made): string {
  return `curl -X DELETE -H "$H" -H "$GATE" ${url}/v1/compare/datasets/${dataset}`;
}

function nameOf({ url, dataset }: Made): string {
  return `${MARK}${url} ${dataset}`;
}

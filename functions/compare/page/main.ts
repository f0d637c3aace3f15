// The live page: the coordinator of `npm start` in a browser.
import { type Provider, PROVIDERS } from '../../../shared/lab/kit/dimensions.ts';
import { itemsOf } from '../../../shared/lab/plan/cells.ts';
import {
  checkEndpoint,
  type Endpoint,
  messageOf,
  NoAnswerError,
  RefusedError,
} from '../../../shared/lab/plan/endpoint.ts';
import { runPlan } from '../../../shared/lab/plan/coordinator.ts';
import type { Plan } from '../../../shared/lab/plan/plan.ts';
import { reportCsv } from '../../../shared/lab/report/csv.ts';
import { reportBody, reportHtml } from '../../../shared/lab/report/html.ts';
import { reportOf } from '../../../shared/lab/report/report.ts';
import type { Circumstances, Report } from '../../../shared/lab/report/schema.ts';
import { PRICES_2026_11 } from '../../../shared/lab/cost/prices-2026-11.ts';
import { FormError, PlanForm } from './form.ts';
import { eventWords, liveHtml, LiveOutcome } from './live.ts';
import { commandOf, forget, note, notGone } from './made.ts';

function byId(id: string): HTMLElement {
  return document.getElementById(id)!;
}

const form = new PlanForm(byId('form') as HTMLFormElement, ownProvider());
const start = byId('form').querySelector('button')!;
const cancel = byId('cancel') as HTMLButtonElement;
const progress = byId('progress');
let cancelled = new AbortController();
let links: string[] = [];

byId('form').addEventListener('submit', (event) => {
  event.preventDefault();
  void compare();
});
byId('form').addEventListener('input', sayHowMuch);
byId('made')
  .querySelector('button')!
  .addEventListener('click', () => {
    forget(notGone());
    showNotGone();
  });
cancel.addEventListener('click', () => {
  cancel.disabled = true;
  cancelled.abort(new Error('cancelled'));
});
addEventListener('beforeunload', (event) => {
  // Data that was made would stay at the provider.
  if (form.isLocked) event.preventDefault();
});
sayHowMuch();
showNotGone();

/** Never rejects. */
async function compare(): Promise<void> {
  say('problem', '');
  form.untell();
  try {
    const [plan, endpoints] = [form.plan(), form.endpoints()];
    setRunning(true);
    say('status', 'Asking the functions ...');
    if (await areRight(endpoints)) await run(plan, endpoints);
    else byId('running').hidden = true;
  } catch (error) {
    say('problem', error instanceof FormError ? error.message : `This page failed: ${String(error)}`);
  } finally {
    setRunning(false);
    showNotGone();
  }
}

/** Tells beside its field what is wrong with an address, a gate or a key. */
async function areRight(endpoints: readonly Endpoint[]): Promise<boolean> {
  const checked = endpoints.map(async (endpoint) => {
    try {
      await checkEndpoint({ endpoint, instance: 0, signal: cancelled.signal, fetch });
      return true;
    } catch (error) {
      const field = error instanceof RefusedError ? error.by : 'url';
      form.tellBeside(endpoint.provider, field, wrongWords(error, endpoint));
      return false;
    }
  });
  return (await Promise.all(checked)).every(Boolean);
}

/** Browsers do not tell whether nobody answered, or somebody whom the page may not hear. */
function wrongWords(error: unknown, { urls }: Endpoint): string {
  if (cancelled.signal.aborted) return 'cancelled';
  const unread = `${urls[0]} gave no answer that this page may read: is the address right, and the platform's own key or token?`;
  return error instanceof NoAnswerError && error.cause instanceof TypeError ? unread : messageOf(error);
}

function showNotGone(): void {
  const left = form.isLocked ? [] : notGone();
  byId('made').hidden = left.length === 0;
  byId('made').querySelector('pre')!.textContent = left.map(commandOf).join('\n');
}

async function run(plan: Plan, endpoints: readonly Endpoint[]): Promise<void> {
  const started = new Date();
  const circumstances = (): Circumstances => circumstancesOf(started, endpoints);
  const outcome = new LiveOutcome();
  const draw = throttled(() => {
    byId('live').innerHTML = liveHtml(outcome.soFar(), plan, circumstances());
  });
  const ended = await runPlan(plan, `p${started.getTime().toString(36)}`, {
    endpoints,
    signal: cancelled.signal,
    onEvent: (event) => {
      note(event, (provider) => endpoints.find((one) => one.provider === provider)!.urls[0]);
      if ('dataset' in event) return;
      say('status', eventWords(event));
      if ('done' in event) Object.assign(progress, { max: event.total, value: event.done });
      if (outcome.take(event)) draw.ask();
    },
  });
  draw.stop();
  show(reportOf(ended, plan, PRICES_2026_11, circumstances()));
}

function show(report: Report): void {
  byId('live').innerHTML = reportBody(report).replaceAll(/<(\/?)h1\b/g, '<$1h2');
  const files = [
    new Blob([reportHtml(report)], { type: 'text/html' }),
    new Blob([JSON.stringify(report, undefined, 2)], { type: 'application/json' }),
    new Blob([reportCsv(report)], { type: 'text/csv' }),
  ];
  links = files.map((file) => URL.createObjectURL(file));
  for (const [at, link] of byId('downloads').querySelectorAll('a').entries()) link.href = links[at]!;
  byId('downloads').hidden = false;
  const { failures, leftovers, endedEarly } = report;
  const ending = endedEarly === null ? 'Done' : `Ended early: ${endedEarly}`;
  const failed = failures.length === 0 ? '' : ` ${failures.length} runs failed.`;
  const left =
    leftovers.length === 0 ? ' What was made is removed.' : ' NOT everything was removed: the report says what.';
  say('status', `${ending}.${failed}${left}`);
}

function setRunning(isRunning: boolean): void {
  form.lock(isRunning);
  start.disabled = isRunning;
  cancel.disabled = !isRunning;
  if (!isRunning) return;
  cancelled = new AbortController();
  for (const link of links.splice(0)) URL.revokeObjectURL(link);
  byId('running').hidden = false;
  byId('made').hidden = true;
  byId('downloads').hidden = true;
  byId('live').replaceChildren();
}

function sayHowMuch(): void {
  try {
    const plan = form.plan();
    const runs = itemsOf(plan, form.providers()).length;
    const seconds = (runs * (plan.durationMs + plan.warmup.leastMs)) / 1_000;
    const length = seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`;
    say('size', `${runs} runs, ${length} at least`);
  } catch (error) {
    // A wrong entry is told when the comparison is to start.
    say('size', error instanceof FormError ? '' : String(error));
  }
}

/** Drawing takes longer and longer: no more than a quarter of the time is spent on it. */
const DRAWING_SHARE = 4;
const DRAWING_LEAST_MS = 400;

function throttled(draw: () => void): { readonly ask: () => void; readonly stop: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let restMs = 0;
  const drawNow = (): void => {
    timer = undefined;
    const startedMs = performance.now();
    draw();
    restMs = Math.max(DRAWING_LEAST_MS, DRAWING_SHARE * (performance.now() - startedMs));
  };
  return {
    ask: () => {
      timer ??= setTimeout(drawNow, restMs);
    },
    stop: () => clearTimeout(timer),
  };
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
    providers: PROVIDERS.map((provider) => {
      const ran = endpoints.some((endpoint) => endpoint.provider === provider);
      return { provider, ran, why: ran ? 'chosen' : 'not chosen' };
    }),
  };
}

function ownProvider(): Provider | undefined {
  return PROVIDERS.find((provider) => provider === document.documentElement.dataset['provider']);
}

function say(id: string, text: string): void {
  byId(id).textContent = text;
}

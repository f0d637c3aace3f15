// A records host under a closed loop: its answers, its memory, the turns of its event loop.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startEmbeddedDatastore } from '../../infra/emulators/embedded.ts';
import { startGcpHost } from '../../infra/hosts/gcp.ts';
import type { FunctionHost } from '../../infra/hosts/host.ts';
import { afterMs, closedLoop } from '../../shared/lab/load/closed-loop.ts';
import { type StoreError, systemRuntime } from '../../shared/store/index.ts';
import { KEYS_ENV } from '../functions/keys.ts';
import type { CalledTable } from '../simulation/caller.ts';
import { Chance } from '../simulation/chance.ts';
import { httpStore } from './http-store.ts';
import { packagedRecords } from './served.ts';
import type { Turn } from './watch-host.ts';

const CALLERS = 256;
const KEYS_COUNT = 5_000;
const VALUE_BYTES = 500;
const BATCH = 20;
const LOOK_EVERY_MS = 1_000;
/** Until then caches fill: memory is compared with what it is afterwards. */
const WARM_SHARE = 1 / 3;
const GROWTH_MAX = 1.1;
/** Stated for what a busy or a failing provider does to a call; `unknown` for writes. */
const STATED = new Set(['throttled', 'unavailable', 'aborted', 'unknown']);

interface Watched {
  readonly heapUsed: number;
  readonly rss: number;
  readonly longest: Turn;
  readonly busiest: Turn;
}

/** 1 if an answer was not a stated one, or memory grew by more than 10 %; else 0. */
export async function load(forMs: number, log: (line: string) => void): Promise<number> {
  const folder = await mkdtemp(path.join(tmpdir(), 'stowage-load-'));
  const emulator = await startEmbeddedDatastore({ inProcess: false });
  try {
    const bundleDir = await packagedRecords(folder, 'gcp');
    const host = await startGcpHost({ bundleDir, target: 'records', env: envOf(emulator.endpoint) });
    const answers = new Map<string, number>();
    const seen: Watched[] = [];
    const watching = watch(host, seen);
    await call(host.url, forMs, answers);
    clearInterval(watching);
    await host.close();
    return told(forMs, answers, seen, log);
  } finally {
    await emulator.close();
    await rm(folder, { recursive: true });
  }
}

function envOf(endpoint: string): Record<string, string> {
  return {
    ...KEYS_ENV,
    GOOGLE_CLOUD_PROJECT: 'load',
    DATASTORE_EMULATOR_HOST: new URL(endpoint).host,
    NODE_OPTIONS: `--import=${new URL('watch-host.ts', import.meta.url).href}`,
  };
}

/** The host's own words, as it prints them. */
function watch(host: FunctionHost, seen: Watched[]): NodeJS.Timeout {
  let last = '';
  return setInterval(() => {
    const [line = ''] =
      host
        .output()
        .match(/^WATCHED .*$/gm)
        ?.slice(-1) ?? [];
    if (line !== last && line.endsWith('}')) seen.push(JSON.parse(line.slice('WATCHED '.length)) as Watched);
    last = line;
  }, LOOK_EVERY_MS);
}

async function call(url: string, forMs: number, answers: Map<string, number>): Promise<void> {
  const table = (await httpStore(url, {}).table('load', { order: 'hash', containers: 1 })) as CalledTable;
  const chance = new Chance(1);
  const count = (name: string): void => void answers.set(name, (answers.get(name) ?? 0) + 1);
  await closedLoop(CALLERS, afterMs(forMs, systemRuntime), async () => {
    try {
      for (const error of await callOnce(table, chance)) count(`an item: ${error.code}`);
      count('answered');
    } catch (error) {
      count((error as StoreError).code ?? String(error));
      // Whoever is told to slow down does.
      await delay(chance.below(200));
    }
  });
}

/** The errors of a batch's items. */
async function callOnce(table: CalledTable, chance: Chance): Promise<StoreError[]> {
  const key = (): string => `k${chance.below(KEYS_COUNT)}`;
  const value = () => ({ id: String(chance.share()), padding: 'x'.repeat(chance.below(2 * VALUE_BYTES)) });
  const keys = (): string[] => Array.from({ length: BATCH }, key);
  const kind = chance.weighted({ get: 50, put: 25, delete: 5, getMany: 10, putMany: 8, scan: 2 });
  switch (kind) {
    case 'get':
      await table.get(key());
      return [];
    case 'put':
      await table.put(key(), value());
      return [];
    case 'delete':
      await table.delete(key());
      return [];
    case 'scan':
      for await (const entry of table.scan({ limit: 200 })) void entry;
      return [];
    case 'getMany':
      return errorsOf(await table.getMany(keys()));
    case 'putMany':
      return errorsOf(await table.putMany(keys().map((each) => ({ key: each, value: value() }))));
    default:
      return kind satisfies never;
  }
}

function errorsOf(outcomes: readonly { readonly status: string; readonly error?: StoreError }[]): StoreError[] {
  return outcomes.flatMap(({ error }) => (error === undefined ? [] : [error]));
}

function told(
  forMs: number,
  answers: ReadonlyMap<string, number>,
  seen: readonly Watched[],
  log: (line: string) => void,
): number {
  const unstated = [...answers.keys()].filter(
    (name) => name !== 'answered' && !STATED.has(name.replace('an item: ', '')),
  );
  const third = Math.floor(seen.length * WARM_SHARE);
  const [warm, last] = [lowest(seen.slice(third, 2 * third)), lowest(seen.slice(-third))];
  const heapRatio = last.heapUsed / warm.heapUsed;
  const rssRatio = last.rss / warm.rss;
  log(`${CALLERS} callers, ${forMs / 60_000} minutes: ${JSON.stringify(Object.fromEntries(answers))}`);
  log(`heap ${mib(warm.heapUsed)} then ${mib(last.heapUsed)} MiB, resident ${mib(warm.rss)} then ${mib(last.rss)} MiB`);
  const turns = seen.slice(third).toSorted((a, b) => b.longest.tookMs - a.longest.tookMs);
  const { tookMs, ranMs, waitedMs } = turns[0]!.longest;
  const busiestMs = Math.max(...turns.map(({ busiest }) => busiest.ranMs));
  log(
    `longest turn ${Math.round(tookMs)} ms: it ran for ${Math.round(ranMs)} and waited for a processor for ${Math.round(waitedMs)}; the most that a turn ran: ${Math.round(busiestMs)} ms`,
  );
  if (unstated.length > 0) log(`NOT STATED: ${unstated.join(', ')}`);
  return unstated.length > 0 || heapRatio > GROWTH_MAX || rssRatio > GROWTH_MAX ? 1 : 0;
}

/** The least of each, over some looks: garbage that waits to be collected is no leak. */
function lowest(seen: readonly Watched[]): Pick<Watched, 'heapUsed' | 'rss'> {
  return {
    heapUsed: Math.min(...seen.map(({ heapUsed }) => heapUsed)),
    rss: Math.min(...seen.map(({ rss }) => rss)),
  };
}

function mib(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}

// Plays a scenario of the machine: feeds events in a loop until there are none. Then all is over,
// and a new process reads and writes every record.
import { memoryEffects } from '../../../shared/drivers/memory/effects.ts';
import { pageBytesFor } from '../../../shared/store/container/new-pages.ts';
import { successor, NO_PAGES } from '../../../shared/store/format/header.ts';
import { insertOf } from '../../../shared/store/container/plan-commit.ts';
import { EMPTY_BYTES, ROOT_CONTAINER } from '../../../shared/store/format/bytes.ts';
import { rootId } from '../../../shared/store/format/entity-ids.ts';
import { hexId } from '../../support/ids.ts';
import { type Life, Process, START_WALL_MS } from '../process.ts';
import { type Result, Stage } from '../stage.ts';
import { keyName, TABLE } from '../scenario.ts';
import { storedRecords } from '../structure.ts';
import { Callers } from './machine-calls.ts';
import type { EntityId } from '../../../shared/store/contract/driver.ts';
import { EventLeaf } from './event-leaf.ts';
import { EventStore } from './event-store.ts';
import type { Input, MachineScenario } from './machine-scenario.ts';

/** Far more events than any run takes. */
const EVENTS_MAX = 100_000;
/** Faults end so long after the last input. */
const CALM_AFTER_MS = 60_000;
const HOUR_MS = 3_600_000;
/** No scenario has a process of this number. */
const LAST = 99;

function begin(store: EventStore, id: EntityId): EventLeaf {
  return new EventLeaf(store, id);
}

export function playMachine(scenario: MachineScenario, isTraced = false): Result {
  const stage = new Stage(scenario, isTraced);
  const { scheduler, events, provider, watch, recorder, network } = stage;
  const callers = new Callers(scenario, recorder);
  const { limits } = network;
  const rules = {
    table: TABLE,
    limits,
    splitLimits: limits,
    compression: 'none',
    pageBytes: pageBytesFor(limits),
  } as const;
  const complain = (what: string): void => stage.complain(what);
  const around = { scenario, scheduler, network, events, rules, complain, begin };
  const processOf = (index: number): Process<EventStore> =>
    new Process(index, scheduler, scenario, (life: Life<EventStore>) => new EventStore(life, around));
  const processes = scenario.skewsMs.map((_, index) => processOf(index));
  const ask = (input: Input): void => {
    const { life } = processes[input.process]!;
    // It is down, or asleep: the caller comes later.
    if (life.isDead || life.wakesAtMs > scheduler.nowMs) scheduler.at(scheduler.nowMs + 20_000, () => ask(input));
    else callers.ask(life, input);
  };
  const play = (): void => scheduler.play(EVENTS_MAX);
  try {
    const header = { order: scenario.order, groupBy: undefined, state: 'live', ...EMPTY_ROOT } as const;
    const attempt = hexId('0123456789abcdef');
    memoryEffects(provider.state, limits).write([insertOf(rootId(TABLE), successor(header, attempt), attempt)]);
    watch.touch([rootId(TABLE)]);
    watch.look();
    for (const input of scenario.inputs) scheduler.at(input.atMs, () => ask(input));
    scheduler.at((scenario.inputs.at(-1)?.atMs ?? 0) + CALM_AFTER_MS, () => network.calm());
    play();
    callers.cutOff();
    for (const { index, lives } of processes) {
      events.count('process restarted', lives.length - 1);
      for (const { number, isDead, store } of lives) {
        stage.countStats(store.counters);
        if (!isDead && store.atWork.length > 0)
          complain(`p${index}.${number} never came to rest: ${store.atWork.join()}`);
      }
    }
    const { life } = processOf(LAST);
    const found: string[] = [];
    const names = Array.from({ length: scenario.keyCount }, (_, key) =>
      keyName({ ...scenario, groupBy: undefined }, key),
    );
    for (const name of names) callers.get(life, name, HOUR_MS, (version) => found.push(`${name} ${version}`));
    play();
    const stored = storedRecords(provider, TABLE);
    const isStored = new Set(stored.map(({ name }) => name));
    const lost = stored.filter(({ name, record }) => record.expiresAtMs === undefined && !found.includes(name));
    if (lost.length > 0 || !found.every((name) => isStored.has(name)))
      complain(`at the end gets differ from what is stored: ${lost.map(({ name }) => name).join()}`);
    const before = recorder.operations;
    for (const key of names.keys()) callers.ask(life, { ...LAST_PUT, key });
    play();
    if (recorder.operations < before + names.length) complain('at last not every record can be written');
    stage.judge();
  } catch (error) {
    stage.brokeOff(error);
  }
  return stage.result();
}

const EMPTY_ROOT = {
  incarnation: hexId('fedcba9876543210'),
  container: ROOT_CONTAINER,
  level: 0,
  low: EMPTY_BYTES,
  high: undefined,
  right: undefined,
  origin: undefined,
  ...NO_PAGES,
  nextNumber: 1,
  commitCount: 0,
  commitIds: EMPTY_BYTES,
  createdAtMs: START_WALL_MS,
};

const LAST_PUT = { process: LAST, atMs: 0, kind: 'put', bytes: 0, ttlMs: undefined, timeoutMs: HOUR_MS } as const;

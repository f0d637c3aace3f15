// What a run of either simulation stands on: virtual time, a provider, the network before it, and
// who judges them.
import { memoryState } from '../../shared/drivers/memory.ts';
import { Scheduler } from '../../shared/lab/kit/virtual-time.ts';
import { Events } from './events.ts';
import { Network } from './network.ts';
import { START_WALL_MS } from './process.ts';
import { Provider } from './provider.ts';
import { Recorder } from './recorder.ts';
import { TABLE, type Weather } from './scenario.ts';
import { structureFaults } from './structure.ts';
import { Watch } from './write-watch.ts';

/** A store's statistics, as the events that they count. */
const STATS = [
  ['rightWalks', 'walk to the right'],
  ['unknownOutcomes', 'write settled by reading'],
  ['conflicts', 'conflict, tried again at once'],
  ['readsFirst', 'read before a commit'],
  ['yields', 'rest before a commit'],
  ['contentionSplits', 'leaf split for contention'],
  ['lostSplits', 'split after a hold lost'],
  ['leftSearches', 'search to the left'],
  ['merges', 'merge finished by a writer'],
] as const;

export interface Result {
  readonly complaints: readonly string[];
  readonly counts: ReadonlyMap<string, number>;
  /** A hash of all lines, equal for equal scenarios. 0 unless traced. */
  readonly hash: number;
  readonly steps: number;
  /** The events of a traced run. */
  readonly lines: readonly string[];
  /** The requests that met a fault, see `Network`. */
  readonly struck: readonly string[];
}

export class Stage {
  readonly scheduler: Scheduler;
  readonly events: Events;
  readonly provider = new Provider(memoryState());
  readonly watch: Watch;
  readonly recorder: Recorder;
  readonly network: Network;

  constructor(scenario: Weather, isTraced: boolean) {
    const scheduler = new Scheduler(scenario.seed);
    const nowMs = (): number => scheduler.nowMs;
    this.scheduler = scheduler;
    this.events = new Events(isTraced, nowMs);
    this.recorder = new Recorder(this.events, nowMs);
    const { events, provider } = this;
    this.watch = new Watch(provider, events, scenario.entityBytesMax, () => START_WALL_MS + scheduler.nowMs);
    this.network = new Network({ scenario, state: provider.state, scheduler, events, touch: this.watch.touch });
    scheduler.afterStep = this.watch.look;
  }

  complain(what: string): void {
    this.recorder.complain(what);
  }

  countStats(stats: Readonly<Record<(typeof STATS)[number][0], number>>): void {
    for (const [stat, event] of STATS) this.events.count(event, stats[stat]);
  }

  /** Once all is over: complains of the shape of the table, and of answers in no possible order. */
  judge(): void {
    for (const fault of structureFaults(this.provider, TABLE, true, this.watch.merges.past)) this.complain(fault);
    this.recorder.check();
  }

  brokeOff(error: unknown): void {
    this.complain(`the run broke off: ${(error as Error).stack ?? String(error)}`);
  }

  /** Of a run that has ended. */
  result(): Result {
    this.events.count('run');
    return {
      complaints: [...this.watch.complaints, ...this.recorder.complaints],
      counts: this.events.counts,
      hash: this.events.hash,
      steps: this.scheduler.steps,
      lines: this.events.lines ?? [],
      struck: this.network.struck,
    };
  }
}

// Writing what a call asks for: its items become changes, the changes go to the queues of their containers, and every item hears its
// verdict, at the latest when the deadline passes.
import type { CallOptions, Order } from './api.ts';
import type { Admission, Ticket } from './admission.ts';
import { Change, type Decide, type Verdict } from './change.ts';
import { abortedError, type Deadline, type Deadlines } from './deadline.ts';
import type { Engine } from './engine.ts';
import { encodeKey, placerOf, type Placer } from './position.ts';

/** Changes handed to the queues at a time, so that a large batch takes its turns. */
const SLICE_COUNT = 5_000;
/** What a change counts beside its key and value. */
const CHANGE_OVERHEAD_BYTES = 200;

/** What one item of a batch asks for; `decide` throws if it cannot be. */
export interface Intent {
  readonly key: string;
  readonly decide: () => { readonly decide: Decide; readonly isBlind: boolean; readonly bytes: number };
}

export interface WriterContext {
  readonly engine: Engine;
  readonly order: Order;
  readonly deadlines: Deadlines;
  readonly admission: Admission;
}

export class Writer {
  readonly #context: WriterContext;
  readonly #place: Placer;

  constructor(context: WriterContext) {
    this.#context = context;
    this.#place = placerOf(context.order, 0);
  }

  /** A verdict for each item. Writes in waves of distinct keys, so that equal keys take effect in the order given. */
  async write(intents: readonly Intent[], options: CallOptions | undefined): Promise<Verdict[]> {
    const deadline = this.#context.deadlines.begin(options);
    const verdicts: Verdict[] = [];
    for (const wave of wavesOf(intents)) {
      for (let first = 0; first < wave.length; first += SLICE_COUNT) {
        await this.#writeSlice(intents, wave.slice(first, first + SLICE_COUNT), deadline, verdicts);
      }
    }
    return verdicts;
  }

  async #writeSlice(
    intents: readonly Intent[],
    indexes: readonly number[],
    deadline: Deadline,
    verdicts: Verdict[],
  ): Promise<void> {
    const { engine, admission, deadlines } = this.#context;
    const changes: Change[] = [];
    const begunTick = engine.clock.now().tick;
    const done = Promise.withResolvers<void>();
    let left = indexes.length;
    const finish = (index: number, verdict: Verdict): void => {
      verdicts[index] = verdict;
      left -= 1;
      if (left === 0) done.resolve();
    };
    for (const index of indexes) {
      try {
        changes.push(this.#changeFor(intents[index]!, begunTick, (verdict) => finish(index, verdict)));
      } catch (error) {
        if (error instanceof TypeError) throw error;
        finish(index, { kind: 'failed', error });
      }
    }
    if (changes.length === 0) return;
    const bytes = changes.reduce((sum, change) => sum + change.bytes, 0);
    const unwatch = deadlines.watch(deadline, (cause) => {
      for (const change of changes) {
        change.settle({
          kind: 'failed',
          error: change.openAttempts > 0 ? engine.unknown(engine.table, cause) : abortedError(cause),
        });
      }
    });
    engine.counters.queueDepth += changes.length;
    let ticket: Ticket | undefined;
    try {
      ticket = admission.enter(bytes, changes.length);
    } catch (error) {
      for (const change of changes) change.settle({ kind: 'failed', error });
    }
    try {
      // The deadline may pass in the line: then every change has its verdict, and there is nothing to route.
      await Promise.race([ticket?.entered, done.promise]);
      if (left > 0) void engine.route(changes.filter((change) => !change.isSettled));
      await done.promise;
    } finally {
      unwatch();
      engine.counters.queueDepth -= changes.length;
      ticket?.leave();
    }
  }

  #changeFor(intent: Intent, begunTick: number, settle: (verdict: Verdict) => void): Change {
    const key = encodeKey(intent.key, this.#context.engine.table);
    const { decide, isBlind, bytes } = intent.decide();
    return new Change({
      key,
      position: this.#place(key),
      order: this.#context.order,
      level: 0,
      bytes: bytes + key.length + CHANGE_OVERHEAD_BYTES,
      begunTick,
      isHint: false,
      decide,
      isBlind,
      settle,
    });
  }
}

/** Indexes in as few waves as hold each key at most once. */
function wavesOf(intents: readonly Intent[]): number[][] {
  const waves: number[][] = [];
  const seen = new Map<string, number>();
  for (const [index, { key }] of intents.entries()) {
    const wave = seen.get(key) ?? 0;
    seen.set(key, wave + 1);
    const indexes = waves[wave];
    if (indexes === undefined) waves.push([index]);
    else indexes.push(index);
  }
  return waves;
}

// A client has its calls recorded, and judges their errors. A crash leaves a call unanswered.
import { type Entry, StoreError } from '../../shared/store/index.ts';
import type { Events } from './events.ts';
import type { CalledTable, Caller, Value } from './caller.ts';
import type { Call, Recorder } from './recorder.ts';
import { given } from './client-actions.ts';
import { hasDrops, keyName, type Scenario, TABLE } from './scenario.ts';

/** A smaller record fits into every container. */
const LARGE_BYTES = 500;

export interface ClientOptions {
  readonly scenario: Scenario;
  /** Its present life, once there is one, awake. */
  readonly process: { awake(): Promise<Caller> };
  readonly scheduler: { after(ms: number): Promise<void> };
  readonly recorder: Recorder;
  readonly events: Events;
  /** A fresh number for each write. */
  readonly nextId: () => number;
  /** Whether the key's leaf has been retired since `sinceMs` and is not yet absorbed. */
  readonly isRetired: (key: string, sinceMs: number) => boolean;
}

/** How a call ended. `nothing`: an error that says nothing was written. */
export type Answer<T> =
  | { readonly kind: 'value'; readonly value: T }
  | { readonly kind: 'nothing' | 'unknown'; readonly code: string; readonly error: unknown };

export class Client {
  readonly options: ClientOptions;
  readonly #seen = new Map<string, Entry<Value>>();
  readonly #tables = new WeakMap<Caller, CalledTable>();
  readonly #hasDrops: boolean;

  constructor(options: ClientOptions) {
    this.options = options;
    this.#hasDrops = hasDrops(options.scenario);
  }

  /** Waits for the call's end or its process's crash. Complains of an error that is not allowed. */
  async ask<T>(
    what: string,
    call: Call,
    timeoutMs: number | undefined,
    allowed: readonly string[],
    work: () => Promise<T>,
  ): Promise<Answer<T>> {
    const { recorder, events } = this.options;
    const crashed = call.life.crashed.then(() => 'crashed' as const);
    const answered = work().then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    const first = await Promise.race([answered, crashed]);
    if (first === 'crashed') {
      events.count('operation cut off by a crash');
      return { kind: 'unknown', code: 'crashed', error: undefined };
    }
    if ('value' in first) {
      recorder.ends(what, call, timeoutMs);
      return { kind: 'value', value: first.value };
    }
    const { error } = first;
    recorder.ends(what, call, timeoutMs);
    const kind = this.fails(what, call, error, allowed);
    return { kind, code: error instanceof StoreError ? error.code : '', error };
  }

  /** Whether an error says that nothing was written. Complains unless a fault explains it. */
  fails(what: string, call: Call, error: unknown, allowed: readonly string[]): 'nothing' | 'unknown' {
    const always = ['aborted', 'unavailable', 'throttled', ...(this.#hasDrops ? ['not_found'] : [])];
    if (error instanceof StoreError && error.code === 'not_found') this.forget(call.life);
    return this.options.recorder.fails(what, error, [...always, ...allowed]);
  }

  /** Codes with which a write of so many bytes may fail, with a condition or without. */
  writeCodes(bytes = 0, isConditional = false): readonly string[] {
    const mayBeRefused = this.options.scenario.faults['refused for its size'] !== undefined;
    return [
      'unknown',
      ...(isConditional ? ['conflict'] : []),
      ...(mayBeRefused ? ['invalid'] : []),
      ...(mayBeRefused || bytes > LARGE_BYTES || this.options.scenario.groupBy !== undefined ? ['too_large'] : []),
    ];
  }

  nameOf(key: number): string {
    return keyName(this.options.scenario, key);
  }

  newValue(bytes: number, id = `w${this.options.nextId()}`): Value {
    return { id, padding: '.'.repeat(bytes) };
  }

  /** The record as this client saw it last, if it ever did. */
  lastSeen(key: string): Entry<Value> | undefined {
    return this.#seen.get(key);
  }

  /** A read of one record, alone or as part of something. */
  reads(key: string, what: string, call: Call, entry: Entry<Value> | undefined): void {
    const { recorder, events, isRetired } = this.options;
    if (!what.includes('old') && isRetired(key, call.calledMs)) events.count('retired leaf read for its records');
    if (entry !== undefined) {
      recorder.shows(key, entry.version, entry.value.id);
      this.#seen.set(key, entry);
    }
    const shown = entry?.value.id;
    recorder.add(key, `${what} ${shown ?? 'absent'}`, call, true, (seen, state) =>
      seen.includes(shown) ? [state] : [],
    );
  }

  /** The next call opens the table again. */
  forget(life: Caller): void {
    this.#tables.delete(life);
  }

  /** The table as its process knows it, opened if need be; undefined if that fails. */
  async table(life: Caller): Promise<CalledTable | undefined> {
    const known = this.#tables.get(life);
    if (known !== undefined) return known;
    const { scenario, recorder } = this.options;
    const { order, groupBy, containers } = scenario;
    const answer = await this.ask('opening', recorder.begin(life), undefined, this.writeCodes(), () =>
      life.store.table<Value>(TABLE, { order, containers, ...given({ groupBy }) }),
    );
    if (answer.kind !== 'value') return undefined;
    this.#tables.set(life, answer.value);
    life.tables.push(answer.value);
    return answer.value;
  }
}

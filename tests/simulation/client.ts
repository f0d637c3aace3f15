// A client: does its actions one after the other on its process, and has each written down. A crash of the process leaves its call without an answer.
import { type Entry, StoreError, type Table } from '../../shared/store/index.ts';
import { Batches } from './batches.ts';
import type { Events } from './events.ts';
import type { Effect, State } from './history.ts';
import type { Life, Process } from './process.ts';
import type { Call, Recorder, Value } from './recorder.ts';
import type { Action, Get, OnKey, Put, Scenario } from './scenario.ts';
import type { Scheduler } from './scheduler.ts';

/** The table of every run. */
export const TABLE = 't';

/** A smaller record fits into every container there is. */
const LARGE_BYTES = 500;

export interface ClientOptions {
  readonly scenario: Scenario;
  readonly process: Process;
  readonly scheduler: Scheduler;
  readonly recorder: Recorder;
  readonly events: Events;
  /** A fresh number for each write. */
  readonly nextId: () => number;
}

/** How a call ended. `nothing`: an error that says nothing was written. */
export type Answer<T> =
  | { readonly kind: 'value'; readonly value: T }
  | { readonly kind: 'nothing' | 'unknown'; readonly code: string; readonly error: unknown };

/** What a caller's own function threw, having seen a state. */
class Refusal extends Error {
  readonly seen: State;

  constructor(seen: State) {
    super('no');
    this.seen = seen;
  }
}

export class Client {
  readonly options: ClientOptions;
  readonly #seen = new Map<string, Entry<Value>>();
  readonly #tables = new WeakMap<Life, Table<Value>>();
  readonly #batches: Batches;
  readonly #hasDrops: boolean;

  constructor(options: ClientOptions) {
    this.options = options;
    this.#batches = new Batches(this);
    this.#hasDrops = hasDrops(options.scenario);
  }

  async run(actions: readonly Action[]): Promise<void> {
    const { process, scheduler } = this.options;
    for (const action of actions) {
      await scheduler.after(action.gapMs);
      const life = await process.awake();
      const table = await this.#table(life);
      if (table !== undefined) await this.#do(action, life, table);
    }
  }

  /** Waits for a call, or for the end of its process; errors that are not allowed are complaints. */
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

  /** Judges an error: those that say that nothing was written, or that no fault explains. */
  fails(what: string, call: Call, error: unknown, allowed: readonly string[]): 'nothing' | 'unknown' {
    const always = ['aborted', 'unavailable', 'throttled', ...(this.#hasDrops ? ['not_found'] : [])];
    if (error instanceof StoreError && error.code === 'not_found') this.#tables.delete(call.life);
    return this.options.recorder.fails(what, error, [...always, ...allowed]);
  }

  /** Codes with which a write of so many bytes may fail. */
  writeCodes(bytes = 0): readonly string[] {
    const mayBeRefused = this.options.scenario.faults['refused for its size'] !== undefined;
    return [
      'unknown',
      ...(mayBeRefused ? ['invalid'] : []),
      ...(mayBeRefused || bytes > LARGE_BYTES ? ['too_large'] : []),
    ];
  }

  nameOf(key: number): string {
    return keyName(this.options.scenario, key);
  }

  newValue(bytes: number, id = `w${this.options.nextId()}`): Value {
    return { id, padding: '.'.repeat(bytes) };
  }

  /** A read of one record, alone or as part of something. */
  reads(key: string, what: string, call: Call, entry: Entry<Value> | undefined): void {
    const { recorder } = this.options;
    if (entry !== undefined) {
      recorder.shows(key, entry.version, entry.value.id);
      this.#seen.set(key, entry);
    }
    const shown = entry?.value.id;
    recorder.add(
      key,
      `${what} ${shown ?? 'absent'}`,
      call,
      true,
      (window) => (state) => (recorder.views(state, window).includes(shown) ? [state] : []),
    );
  }

  /** The table as its process knows it, opened if need be; undefined if that fails. */
  async #table(life: Life): Promise<Table<Value> | undefined> {
    const known = this.#tables.get(life);
    if (known !== undefined) return known;
    const { scenario, recorder } = this.options;
    const { order, containers } = scenario;
    const answer = await this.ask('opening', recorder.begin(life), undefined, this.writeCodes(), () =>
      life.store.table<Value>(TABLE, { order, containers }),
    );
    if (answer.kind !== 'value') return undefined;
    this.#tables.set(life, answer.value);
    life.tables.push(answer.value);
    return answer.value;
  }

  async #do(action: Action, life: Life, table: Table<Value>): Promise<void> {
    switch (action.kind) {
      case 'get':
        return this.#get(action, life, table);
      case 'put':
      case 'putIfAbsent':
      case 'putIfVersion':
        return this.#put(action, life, table);
      case 'update':
        return this.#update(action, life, table);
      case 'updateNothing':
      case 'updateThrows':
        return this.#updateInVain(action, life, table);
      case 'delete':
      case 'deleteIfVersion':
        return this.#delete(action, life, table);
      case 'getMany':
        return this.#batches.getMany(action, life, table);
      case 'putMany':
        return this.#batches.putMany(action, life, table);
      case 'deleteMany':
        return this.#batches.deleteMany(action, life, table);
      case 'scan':
        return this.#batches.scan(action, life, table);
      case 'vacuum':
      case 'drop':
      case 'reopen':
      case 'tables':
        return this.#batches.administer(action, life, () => this.#tables.delete(life));
      default:
        action satisfies never;
    }
  }

  async #get(action: Get, life: Life, table: Table<Value>): Promise<void> {
    const key = this.nameOf(action.key);
    const { maxAgeMs } = action;
    const call = this.options.recorder.begin(life, maxAgeMs);
    const options = { ...optionsOf(action), ...(maxAgeMs === undefined ? {} : { maxAgeMs }) };
    const what = maxAgeMs === undefined ? 'get' : `get at most ${maxAgeMs} ms old`;
    const answer = await this.ask(`${what} ${key}`, call, action.timeoutMs, [], () => table.get(key, options));
    if (answer.kind === 'value') this.reads(key, what, call, answer.value);
  }

  async #put(action: Put, life: Life, table: Table<Value>): Promise<void> {
    const { recorder } = this.options;
    const key = this.nameOf(action.key);
    const base = action.kind === 'putIfVersion' ? this.#seen.get(key) : undefined;
    if (action.kind === 'putIfVersion' && base === undefined) return;
    const condition =
      action.kind === 'putIfAbsent' ? { ifAbsent: true } : base === undefined ? {} : { ifVersion: base.version };
    const isMet = (seen: State): boolean =>
      action.kind === 'putIfAbsent' ? seen === undefined : base === undefined || seen === base.value.id;
    const value = this.newValue(action.bytes);
    const { id } = value;
    const what = `${action.kind} ${id}${base === undefined ? '' : ` over ${base.value.id}`}`;
    const call = recorder.begin(life);
    recorder.expires(id, action.ttlMs);
    const options = {
      ...optionsOf(action),
      ...condition,
      ...(action.ttlMs === undefined ? {} : { ttlMs: action.ttlMs }),
    };
    const codes =
      action.kind === 'put' ? this.writeCodes(action.bytes) : [...this.writeCodes(action.bytes), 'conflict'];
    const answer = await this.ask(`${what} on ${key}`, call, action.timeoutMs, codes, () =>
      table.put(key, value, options),
    );
    const makes =
      (window: Parameters<Recorder['views']>[1]): Effect =>
      (state) =>
        recorder.views(state, window).some(isMet) ? [id] : [];
    if (answer.kind === 'value') {
      recorder.settleExpiry(id, call, action.ttlMs);
      recorder.shows(key, answer.value.version, id);
      recorder.add(key, what, call, true, makes);
    } else if (answer.kind === 'unknown') recorder.add(key, what, call, false, makes);
    else if (answer.code === 'conflict')
      recorder.add(
        key,
        `${what}: conflict`,
        call,
        true,
        (window) => (state) => (recorder.views(state, window).every(isMet) ? [] : [state]),
      );
  }

  async #update(action: Put, life: Life, table: Table<Value>): Promise<void> {
    const { recorder } = this.options;
    const key = this.nameOf(action.key);
    const { ttlMs } = action;
    const call = recorder.begin(life);
    const name = `w${this.options.nextId()}`;
    /** Each run of the function is a write of its own, of which one at most may take effect. */
    const tries: { readonly id: string; readonly before: State }[] = [];
    const change = (current: Entry<Value> | undefined): Value => {
      const before = current?.value.id;
      const id = `${name}.${tries.length}`;
      tries.push({ id, before });
      if (ttlMs === undefined) recorder.expiresAs(id, before);
      else recorder.expires(id, ttlMs);
      return this.newValue(action.bytes, id);
    };
    const options = { ...optionsOf(action), ...(ttlMs === undefined ? {} : { ttlMs }) };
    const answer = await this.ask(
      `update ${name} of ${key}`,
      call,
      action.timeoutMs,
      this.writeCodes(action.bytes),
      () => table.update(key, change, options),
    );
    if (answer.kind === 'nothing') return;
    const id = answer.kind === 'value' ? answer.value?.value.id : undefined;
    if (answer.kind === 'value') {
      if (id === undefined || !tries.some((each) => each.id === id))
        return recorder.complain(`update ${name} of ${key} returned ${id}`);
      recorder.settleExpiry(id, call, ttlMs);
      recorder.shows(key, answer.value!.version, id);
    }
    const meant = id === undefined ? tries : tries.filter((each) => each.id === id);
    const what = `update ${meant.map((each) => `${each.before ?? 'absent'} -> ${each.id}`).join(' or ')}`;
    recorder.add(key, what, call, answer.kind === 'value', (window) => (state) => {
      const views = recorder.views(state, window);
      return meant.filter(({ before }) => views.includes(before)).map((each) => each.id);
    });
  }

  /** An update that changes nothing is a read, and so is one whose function throws. */
  async #updateInVain(action: OnKey, life: Life, table: Table<Value>): Promise<void> {
    const key = this.nameOf(action.key);
    const call = this.options.recorder.begin(life);
    const change = (current: Entry<Value> | undefined): undefined => {
      if (action.kind === 'updateThrows') throw new Refusal(current?.value.id);
    };
    const work = async (): Promise<{ entry: Entry<Value> | undefined; seen: State }> => {
      try {
        const entry = await table.update(key, change, optionsOf(action));
        return { entry, seen: entry?.value.id };
      } catch (error) {
        if (error instanceof Refusal) return { entry: undefined, seen: error.seen };
        throw error;
      }
    };
    const answer = await this.ask(`${action.kind} ${key}`, call, action.timeoutMs, this.writeCodes(), work);
    if (answer.kind !== 'value') return;
    const { entry, seen } = answer.value;
    if (entry !== undefined) return this.reads(key, action.kind, call, entry);
    const { recorder } = this.options;
    recorder.add(
      key,
      `${action.kind} ${seen ?? 'absent'}`,
      call,
      true,
      (window) => (state) => (recorder.views(state, window).includes(seen) ? [state] : []),
    );
  }

  async #delete(action: OnKey, life: Life, table: Table<Value>): Promise<void> {
    const { recorder } = this.options;
    const key = this.nameOf(action.key);
    const base = action.kind === 'deleteIfVersion' ? this.#seen.get(key) : undefined;
    if (action.kind === 'deleteIfVersion' && base === undefined) return;
    const what = base === undefined ? 'delete' : `delete ${base.value.id}`;
    const call = recorder.begin(life);
    const options = { ...optionsOf(action), ...(base === undefined ? {} : { ifVersion: base.version }) };
    const codes = base === undefined ? this.writeCodes() : [...this.writeCodes(), 'conflict'];
    const answer = await this.ask(`${what} of ${key}`, call, action.timeoutMs, codes, () => table.delete(key, options));
    const isMet = (seen: State): boolean => (base === undefined ? seen !== undefined : seen === base.value.id);
    if (answer.kind === 'value') {
      const { deleted, version } = answer.value;
      if (version !== undefined) recorder.shows(key, version, `the deletion of moment ${call.calledAt}`);
      recorder.add(key, `${what}: ${deleted ? 'deleted' : 'absent'}`, call, true, (window) => (state) => {
        const views = recorder.views(state, window);
        if (deleted) return views.some(isMet) ? [undefined] : [];
        return base === undefined && views.includes(undefined) ? [state] : [];
      });
    } else if (answer.kind === 'unknown')
      recorder.add(
        key,
        what,
        call,
        false,
        (window) => (state) => (recorder.views(state, window).some(isMet) ? [undefined] : [state]),
      );
    else if (answer.code === 'conflict')
      recorder.add(
        key,
        `${what}: conflict`,
        call,
        true,
        (window) => (state) => (recorder.views(state, window).every(isMet) ? [] : [state]),
      );
  }
}

export function keyName(scenario: Scenario, key: number): string {
  return `${'x'.repeat(scenario.prefixBytes)}k${String(key).padStart(2, '0')}`;
}

export function hasDrops(scenario: Scenario): boolean {
  return scenario.clients.some(({ actions }) => actions.some(({ kind }) => kind === 'drop'));
}

export function optionsOf({ timeoutMs }: { readonly timeoutMs: number | undefined }): { timeoutMs?: number } {
  return timeoutMs === undefined ? {} : { timeoutMs };
}

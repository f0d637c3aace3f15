// A client's actions on one record. Each answer tells which states it may have met and left.
import type { Entry } from '../../shared/store/index.ts';
import { type Get, type OnKey, optionsOf, type Put } from './actions.ts';
import type { Client } from './client.ts';
import type { Effect, State } from './history.ts';
import type { CalledTable, Caller, Value } from './caller.ts';
import type { Call, Recorder } from './recorder.ts';

/** Thrown by the caller's function, with the state that it was given. */
class Refusal extends Error {
  readonly seen: State;

  constructor(seen: State) {
    super('no');
    this.seen = seen;
  }
}

export class Singles {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  async get(action: Get, life: Caller, table: CalledTable): Promise<void> {
    const key = this.#client.nameOf(action.key);
    const { maxAgeMs } = action;
    const call = this.#client.options.recorder.begin(life, maxAgeMs);
    const options = { ...optionsOf(action), ...(maxAgeMs === undefined ? {} : { maxAgeMs }) };
    const what = maxAgeMs === undefined ? 'get' : `get at most ${maxAgeMs} ms old`;
    const answer = await this.#client.ask(`${what} ${key}`, call, action.timeoutMs, [], () => table.get(key, options));
    if (answer.kind === 'value') this.#client.reads(key, what, call, answer.value);
  }

  async put(action: Put, life: Caller, table: CalledTable): Promise<void> {
    const { recorder } = this.#client.options;
    const key = this.#client.nameOf(action.key);
    const base = action.kind === 'putIfVersion' ? this.#client.lastSeen(key) : undefined;
    if (action.kind === 'putIfVersion' && base === undefined) return;
    const condition =
      action.kind === 'putIfAbsent' ? { ifAbsent: true } : base === undefined ? {} : { ifVersion: base.version };
    const isMet = (seen: State): boolean =>
      action.kind === 'putIfAbsent' ? seen === undefined : base === undefined || seen === base.value.id;
    const value = this.#client.newValue(action.bytes);
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
      action.kind === 'put'
        ? this.#client.writeCodes(action.bytes)
        : [...this.#client.writeCodes(action.bytes), 'conflict'];
    const answer = await this.#client.ask(`${what} on ${key}`, call, action.timeoutMs, codes, () =>
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
    else if (answer.code === 'conflict') this.#conflicts(key, what, call, isMet);
  }

  async update(action: Put, life: Caller, table: CalledTable): Promise<void> {
    const { recorder } = this.#client.options;
    const key = this.#client.nameOf(action.key);
    const { ttlMs } = action;
    const call = recorder.begin(life);
    const name = `w${this.#client.options.nextId()}`;
    /** Each run of the function is a write of its own. At most one of them takes effect. */
    const tries: { readonly id: string; readonly before: State }[] = [];
    const change = (current: Entry<Value> | undefined): Value => {
      const before = current?.value.id;
      const id = `${name}.${tries.length}`;
      tries.push({ id, before });
      if (ttlMs === undefined) recorder.expiresAs(id, before);
      else recorder.expires(id, ttlMs);
      return this.#client.newValue(action.bytes, id);
    };
    const options = { ...optionsOf(action), ...(ttlMs === undefined ? {} : { ttlMs }) };
    const answer = await this.#client.ask(
      `update ${name} of ${key}`,
      call,
      action.timeoutMs,
      this.#client.writeCodes(action.bytes),
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

  /** An update without a change is a read. So is one whose function throws. */
  async updateInVain(action: OnKey, life: Caller, table: CalledTable): Promise<void> {
    const key = this.#client.nameOf(action.key);
    const call = this.#client.options.recorder.begin(life);
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
    const answer = await this.#client.ask(
      `${action.kind} ${key}`,
      call,
      action.timeoutMs,
      this.#client.writeCodes(),
      work,
    );
    if (answer.kind !== 'value') return;
    const { entry, seen } = answer.value;
    if (entry !== undefined) return this.#client.reads(key, action.kind, call, entry);
    const { recorder } = this.#client.options;
    recorder.add(
      key,
      `${action.kind} ${seen ?? 'absent'}`,
      call,
      true,
      (window) => (state) => (recorder.views(state, window).includes(seen) ? [state] : []),
    );
  }

  async delete(action: OnKey, life: Caller, table: CalledTable): Promise<void> {
    const { recorder } = this.#client.options;
    const key = this.#client.nameOf(action.key);
    const base = action.kind === 'deleteIfVersion' ? this.#client.lastSeen(key) : undefined;
    if (action.kind === 'deleteIfVersion' && base === undefined) return;
    const what = base === undefined ? 'delete' : `delete ${base.value.id}`;
    const call = recorder.begin(life);
    const options = { ...optionsOf(action), ...(base === undefined ? {} : { ifVersion: base.version }) };
    const codes = base === undefined ? this.#client.writeCodes() : [...this.#client.writeCodes(), 'conflict'];
    const answer = await this.#client.ask(`${what} of ${key}`, call, action.timeoutMs, codes, () =>
      table.delete(key, options),
    );
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
    else if (answer.code === 'conflict') this.#conflicts(key, what, call, isMet);
  }

  /** At least one view of the record failed the condition. */
  #conflicts(key: string, what: string, call: Call, isMet: (seen: State) => boolean): void {
    const { recorder } = this.#client.options;
    recorder.add(
      key,
      `${what}: conflict`,
      call,
      true,
      (window) => (state) => (recorder.views(state, window).every(isMet) ? [] : [state]),
    );
  }
}

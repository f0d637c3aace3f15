// A client's actions on one record. Each answer tells which states it may have met and left.
import type { Entry } from '../../shared/store/index.ts';
import { type Get, given, type OnKey, type Put } from './actions.ts';
import type { Client } from './client.ts';
import type { State } from './history.ts';
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
  readonly #recorder: Recorder;

  constructor(client: Client) {
    this.#client = client;
    this.#recorder = client.options.recorder;
  }

  async get({ key: number, maxAgeMs, timeoutMs }: Get, life: Caller, table: CalledTable): Promise<void> {
    const key = this.#client.nameOf(number);
    const call = this.#recorder.begin(life, maxAgeMs);
    const what = maxAgeMs === undefined ? 'get' : `get at most ${maxAgeMs} ms old`;
    const answer = await this.#client.ask(`${what} ${key}`, call, timeoutMs, [], () =>
      table.get(key, given({ timeoutMs, maxAgeMs })),
    );
    if (answer.kind === 'value') this.#client.reads(key, what, call, answer.value);
  }

  async put({ kind, bytes, ttlMs, timeoutMs, ...action }: Put, life: Caller, table: CalledTable): Promise<void> {
    const key = this.#client.nameOf(action.key);
    const base = kind === 'putIfVersion' ? this.#client.lastSeen(key) : undefined;
    if (kind === 'putIfVersion' && base === undefined) return;
    const ifAbsent = kind === 'putIfAbsent' || undefined;
    const isMet = (seen: State): boolean =>
      ifAbsent ? seen === undefined : base === undefined || seen === base.value.id;
    const value = this.#client.newValue(bytes);
    const { id } = value;
    const what = `${kind} ${id}${base === undefined ? '' : ` over ${base.value.id}`}`;
    const call = this.#recorder.begin(life);
    this.#recorder.expires(id, ttlMs);
    const options = given({ timeoutMs, ifAbsent, ifVersion: base?.version, ttlMs });
    const codes = this.#client.writeCodes(bytes, kind !== 'put');
    const answer = await this.#client.ask(`${what} on ${key}`, call, timeoutMs, codes, () =>
      table.put(key, value, options),
    );
    if (answer.kind === 'value') {
      this.#recorder.settleExpiry(id, call, ttlMs);
      this.#recorder.shows(key, answer.value.version, id);
    }
    if (answer.kind !== 'nothing')
      this.#recorder.add(key, what, call, answer.kind === 'value', (seen) => (seen.some(isMet) ? [id] : []));
    else if (answer.code === 'conflict') this.#conflicts(key, what, call, isMet);
  }

  async update({ bytes, ttlMs, timeoutMs, ...action }: Put, life: Caller, table: CalledTable): Promise<void> {
    const recorder = this.#recorder;
    const key = this.#client.nameOf(action.key);
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
      return this.#client.newValue(bytes, id);
    };
    const codes = this.#client.writeCodes(bytes);
    const answer = await this.#client.ask(`update ${name} of ${key}`, call, timeoutMs, codes, () =>
      table.update(key, change, given({ timeoutMs, ttlMs })),
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
    recorder.add(key, what, call, answer.kind === 'value', (seen) =>
      meant.filter(({ before }) => seen.includes(before)).map((each) => each.id),
    );
  }

  /** An update without a change is a read. So is one whose function throws. */
  async updateInVain({ kind, timeoutMs, ...action }: OnKey, life: Caller, table: CalledTable): Promise<void> {
    const key = this.#client.nameOf(action.key);
    const call = this.#recorder.begin(life);
    const change = (current: Entry<Value> | undefined): undefined => {
      if (kind === 'updateThrows') throw new Refusal(current?.value.id);
    };
    const work = async (): Promise<{ entry: Entry<Value> | undefined; seen: State }> => {
      try {
        const entry = await table.update(key, change, given({ timeoutMs }));
        return { entry, seen: entry?.value.id };
      } catch (error) {
        if (error instanceof Refusal) return { entry: undefined, seen: error.seen };
        throw error;
      }
    };
    const answer = await this.#client.ask(`${kind} ${key}`, call, timeoutMs, this.#client.writeCodes(), work);
    if (answer.kind !== 'value') return;
    const { entry, seen: shown } = answer.value;
    if (entry !== undefined) return this.#client.reads(key, kind, call, entry);
    this.#recorder.add(key, `${kind} ${shown ?? 'absent'}`, call, true, (seen, state) =>
      seen.includes(shown) ? [state] : [],
    );
  }

  async delete({ kind, timeoutMs, ...action }: OnKey, life: Caller, table: CalledTable): Promise<void> {
    const key = this.#client.nameOf(action.key);
    const base = kind === 'deleteIfVersion' ? this.#client.lastSeen(key) : undefined;
    if (kind === 'deleteIfVersion' && base === undefined) return;
    const what = base === undefined ? 'delete' : `delete ${base.value.id}`;
    const call = this.#recorder.begin(life);
    const codes = this.#client.writeCodes(0, base !== undefined);
    const answer = await this.#client.ask(`${what} of ${key}`, call, timeoutMs, codes, () =>
      table.delete(key, given({ timeoutMs, ifVersion: base?.version })),
    );
    const isMet = (seen: State): boolean => (base === undefined ? seen !== undefined : seen === base.value.id);
    if (answer.kind === 'value') {
      const { deleted, version } = answer.value;
      if (version !== undefined) this.#recorder.shows(key, version, `the deletion of moment ${call.calledAt}`);
      this.#recorder.add(key, `${what}: ${deleted ? 'deleted' : 'absent'}`, call, true, (seen, state) => {
        if (deleted) return seen.some(isMet) ? [undefined] : [];
        return base === undefined && seen.includes(undefined) ? [state] : [];
      });
    } else if (answer.kind === 'unknown')
      this.#recorder.add(key, what, call, false, (seen, state) => (seen.some(isMet) ? [undefined] : [state]));
    else if (answer.code === 'conflict') this.#conflicts(key, what, call, isMet);
  }

  /** At least one view of the record failed the condition. */
  #conflicts(key: string, what: string, call: Call, isMet: (seen: State) => boolean): void {
    this.#recorder.add(key, `${what}: conflict`, call, true, (seen, state) => (seen.every(isMet) ? [] : [state]));
  }
}

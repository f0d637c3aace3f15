// A client's actions on one record. Each answer tells which states it may have met and left.
import type { Entry } from '../../shared/store/index.ts';
import { type Get, given, type OnKey, type Put } from './client-actions.ts';
import type { Client } from './history-client.ts';
import type { State } from './history.ts';
import type { CalledTable, Caller, Value } from './caller.ts';
import type { Judged } from './recorder.ts';

/** Thrown by the caller's function, with the state that it was given. */
class Refusal extends Error {
  readonly seen: State;

  constructor(seen: State) {
    super('no');
    this.seen = seen;
  }
}

export async function get(client: Client, action: Get, life: Caller, table: CalledTable): Promise<void> {
  const { recorder } = client.options;
  const { maxAgeMs, timeoutMs } = action;
  const key = client.nameOf(action.key);
  const call = recorder.begin(life, maxAgeMs);
  const what = maxAgeMs === undefined ? 'get' : `get at most ${maxAgeMs} ms old`;
  const answer = await client.ask(`${what} ${key}`, call, timeoutMs, [], () =>
    table.get(key, given({ timeoutMs, maxAgeMs })),
  );
  if (answer.kind === 'value') client.reads(key, what, call, answer.value);
}

export async function put(client: Client, action: Put, life: Caller, table: CalledTable): Promise<void> {
  const { recorder } = client.options;
  const { kind, bytes, ttlMs, timeoutMs } = action;
  const key = client.nameOf(action.key);
  const base = kind === 'putIfVersion' ? client.lastSeen(key) : undefined;
  if (kind === 'putIfVersion' && base === undefined) return;
  const ifAbsent = kind === 'putIfAbsent' || undefined;
  const isMet = (seen: State): boolean =>
    ifAbsent ? seen === undefined : base === undefined || seen === base.value.id;
  const value = client.newValue(bytes);
  const { id } = value;
  const what = `${kind} ${id}${base === undefined ? '' : ` over ${base.value.id}`}`;
  const call = recorder.begin(life);
  recorder.expires(id, ttlMs);
  const options = given({ timeoutMs, ifAbsent, ifVersion: base?.version, ttlMs });
  const codes = client.writeCodes(bytes, kind !== 'put');
  const answer = await client.ask(`${what} on ${key}`, call, timeoutMs, codes, () => table.put(key, value, options));
  if (answer.kind === 'value') {
    recorder.settleExpiry(id, call, ttlMs);
    recorder.shows(key, answer.value.version, id);
  }
  if (answer.kind !== 'nothing')
    recorder.add(key, what, call, answer.kind === 'value', (seen) => (seen.some(isMet) ? [id] : []));
  else if (answer.code === 'conflict') recorder.add(key, `${what}: conflict`, call, true, unmet(isMet));
}

export async function update(client: Client, action: Put, life: Caller, table: CalledTable): Promise<void> {
  const { recorder } = client.options;
  const { bytes, ttlMs, timeoutMs } = action;
  const key = client.nameOf(action.key);
  const call = recorder.begin(life);
  const name = `w${client.options.nextId()}`;
  /** Each run of the function is a write of its own. At most one of them takes effect. */
  const tries: { readonly id: string; readonly before: State }[] = [];
  const change = (current: Entry<Value> | undefined): Value => {
    const before = current?.value.id;
    const id = `${name}.${tries.length}`;
    tries.push({ id, before });
    if (ttlMs === undefined) recorder.expiresAs(id, before);
    else recorder.expires(id, ttlMs);
    return client.newValue(bytes, id);
  };
  const codes = client.writeCodes(bytes);
  const answer = await client.ask(`update ${name} of ${key}`, call, timeoutMs, codes, () =>
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
export async function updateInVain(client: Client, action: OnKey, life: Caller, table: CalledTable): Promise<void> {
  const { recorder } = client.options;
  const { kind, timeoutMs } = action;
  const key = client.nameOf(action.key);
  const call = recorder.begin(life);
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
  const answer = await client.ask(`${kind} ${key}`, call, timeoutMs, client.writeCodes(), work);
  if (answer.kind !== 'value') return;
  const { entry, seen: shown } = answer.value;
  if (entry !== undefined) return client.reads(key, kind, call, entry);
  recorder.add(key, `${kind} ${shown ?? 'absent'}`, call, true, (seen, state) => (seen.includes(shown) ? [state] : []));
}

export async function remove(client: Client, action: OnKey, life: Caller, table: CalledTable): Promise<void> {
  const { recorder } = client.options;
  const { kind, timeoutMs } = action;
  const key = client.nameOf(action.key);
  const base = kind === 'deleteIfVersion' ? client.lastSeen(key) : undefined;
  if (kind === 'deleteIfVersion' && base === undefined) return;
  const what = base === undefined ? 'delete' : `delete ${base.value.id}`;
  const call = recorder.begin(life);
  const codes = client.writeCodes(0, base !== undefined);
  const answer = await client.ask(`${what} of ${key}`, call, timeoutMs, codes, () =>
    table.delete(key, given({ timeoutMs, ifVersion: base?.version })),
  );
  const isMet = (seen: State): boolean => (base === undefined ? seen !== undefined : seen === base.value.id);
  if (answer.kind === 'value') {
    const { deleted, version } = answer.value;
    if (version !== undefined) recorder.shows(key, version, `the deletion of moment ${call.calledAt}`);
    recorder.add(key, `${what}: ${deleted ? 'deleted' : 'absent'}`, call, true, (seen, state) => {
      if (deleted) return seen.some(isMet) ? [undefined] : [];
      return base === undefined && seen.includes(undefined) ? [state] : [];
    });
  } else if (answer.kind === 'unknown')
    recorder.add(key, what, call, false, (seen, state) => (seen.some(isMet) ? [undefined] : [state]));
  else if (answer.code === 'conflict') recorder.add(key, `${what}: conflict`, call, true, unmet(isMet));
}

/** At least one view of the record failed the condition. */
function unmet(isMet: (seen: State) => boolean): Judged {
  return (seen, state) => (seen.every(isMet) ? [] : [state]);
}

// A client's actions on many records or the table. Each item or scanned record is an operation.
import type { BatchItem, Entry, ScanOptions, Taken } from '../../shared/store/index.ts';
import type { Client } from './history-client.ts';
import type { Operation } from './history.ts';
import type { CalledTable, Caller, Value } from './caller.ts';
import { TIMEOUT_MS } from './process.ts';
import type { Call, Judged, Recorder } from './recorder.ts';
import {
  type Batch,
  type Clearing,
  type OnKeys,
  type OnTable,
  given,
  type PutMany,
  type Scanning,
} from './client-actions.ts';
import { positionOf } from './provider.ts';
import { TABLE } from './scenario.ts';

/** A scan that needs more resumptions never ends. */
const RESUMPTIONS_MAX = 200;

export async function getMany(client: Client, action: OnKeys, life: Caller, table: CalledTable): Promise<void> {
  const { recorder } = client.options;
  const keys = action.keys.map((key) => client.nameOf(key));
  const call = recorder.begin(life);
  const { timeoutMs } = action;
  const answer = await client.ask('getMany', call, timeoutMs, [], () => table.getMany(keys, given({ timeoutMs })));
  if (answer.kind !== 'value') return;
  if (answer.value.length !== keys.length) recorder.complain('getMany has not an outcome for each key');
  for (const [at, outcome] of answer.value.entries()) {
    if (outcome.key !== keys[at]) recorder.complain(`getMany answered for ${outcome.key} in the place of ${keys[at]}`);
    if (outcome.status === 'failed') client.fails('getMany', call, outcome.error, []);
    else client.reads(outcome.key, 'getMany', call, outcome.status === 'found' ? outcome : undefined);
  }
}

export async function putMany(client: Client, action: PutMany, life: Caller, table: CalledTable): Promise<void> {
  const { recorder } = client.options;
  const { ttlMs, timeoutMs, bytes } = action;
  const ifAbsent = action.ifAbsent || undefined;
  const call = recorder.begin(life);
  const items = action.keys.map((key) => {
    const value = client.newValue(bytes);
    recorder.expires(value.id, ttlMs);
    return { key: client.nameOf(key), value, ...given({ ifAbsent, ttlMs }) };
  });
  const answer = await client.ask('putMany', call, timeoutMs, [], () => table.putMany(items, given({ timeoutMs })));
  if (answer.kind === 'value' && answer.value.length < items.length)
    recorder.complain('putMany has not an outcome for each item');
  const add = chainIn(recorder, call);
  for (const [at, { key, value }] of items.entries()) {
    const { id } = value;
    const outcome = answer.kind === 'value' ? answer.value[at] : undefined;
    const what = `put ${id} of a batch${ifAbsent ? ' ifAbsent' : ''}`;
    const puts: Judged = (seen) => (!ifAbsent || seen.includes(undefined) ? [id] : []);
    if (outcome?.status === 'written') {
      recorder.settleExpiry(id, call, ttlMs);
      recorder.shows(key, outcome.version, id);
      add(key, what, true, puts);
    } else if (outcome?.error.code === 'conflict' && ifAbsent)
      add(key, `${what}: conflict`, true, (seen, state) => (seen.some((one) => one !== undefined) ? [state] : []));
    else if (mayHaveWritten(client, { of: 'putMany', bytes, call }, answer.kind, outcome?.error))
      add(key, what, false, puts);
  }
}

export async function deleteMany(client: Client, action: OnKeys, life: Caller, table: CalledTable): Promise<void> {
  const { recorder } = client.options;
  const { timeoutMs } = action;
  const keys = action.keys.map((key) => client.nameOf(key));
  const call = recorder.begin(life);
  const answer = await client.ask('deleteMany', call, timeoutMs, [], () =>
    table.deleteMany(keys, given({ timeoutMs })),
  );
  const add = chainIn(recorder, call);
  for (const [at, key] of keys.entries()) {
    const outcome = answer.kind === 'value' ? answer.value[at] : undefined;
    const isKnown = outcome !== undefined && outcome.status !== 'failed';
    const error = outcome?.status === 'failed' ? outcome.error : undefined;
    if (!isKnown && !mayHaveWritten(client, { of: 'deleteMany', bytes: 0, call }, answer.kind, error)) continue;
    if (outcome?.status === 'deleted')
      recorder.shows(key, outcome.version, `the deletion ${at} of moment ${call.calledAt}`);
    add(key, `delete of a batch: ${outcome?.status ?? 'cut off'}`, isKnown, (seen, state) => {
      if (outcome?.status === 'absent') return seen.includes(undefined) ? [state] : [];
      return outcome?.status !== 'deleted' || seen.some((one) => one !== undefined) ? [undefined] : [];
    });
  }
}

/** Whether an item without an outcome that says so may have been written all the same. */
function mayHaveWritten(
  client: Client,
  { of, bytes, call }: { readonly of: string; readonly bytes: number; readonly call: Call },
  kind: string,
  error: unknown,
): boolean {
  if (error === undefined) return kind === 'unknown';
  return client.fails(`an item of ${of}`, call, error, client.writeCodes(bytes)) === 'unknown';
}

/** A scan reads every record, each at its own moment within the scan. */
export async function scan(client: Client, action: Scanning, life: Caller, table: CalledTable): Promise<void> {
  const { recorder, scenario, scheduler } = client.options;
  const call = recorder.begin(life);
  const found = new Map<string, Entry<Value>>();
  const positions: Buffer[] = [];
  let cursor: string | undefined;
  let isWhole = false;
  for (let rounds = 0; rounds < RESUMPTIONS_MAX && !isWhole; rounds += 1) {
    const options = given({ timeoutMs: action.timeoutMs, cursor, limit: action.limit });
    const answer = await client.ask('scan', { ...call, naps: -1 }, undefined, ['conflict'], () =>
      collect(table, options),
    );
    if (answer.kind !== 'value') break;
    for (const entry of answer.value.entries) {
      if (found.has(entry.key)) recorder.complain(`a scan gave ${entry.key} twice`);
      found.set(entry.key, entry);
      positions.push(positionOf(scenario.order, 0, Buffer.from(entry.key)));
    }
    cursor = answer.value.cursor;
    isWhole = cursor === undefined;
    if (!isWhole && action.limit === undefined) recorder.complain('a scan without a limit left a cursor');
    await scheduler.after(action.pauseMs);
    if (life.isDead) break;
  }
  if (positions.some((position, at) => at > 0 && positions[at - 1]!.compare(position) >= 0))
    recorder.complain('a scan is out of order');
  if (new Set([...found.values()].map(({ version }) => version.split('-')[0])).size > 1)
    recorder.complain('a scan gave records of two incarnations');
  for (const entry of found.values()) client.reads(entry.key, 'scan', call, entry);
  if (!isWhole) return;
  client.options.events.count('scan to its end');
  for (let key = 0; key < scenario.keyCount; key += 1) {
    const name = client.nameOf(key);
    if (!found.has(name)) client.reads(name, 'scan', call, undefined);
  }
}

/** Judges each part as an operation of its own; the watch sees that all come together. */
export async function batch(client: Client, action: Batch, life: Caller, table: CalledTable): Promise<void> {
  const { recorder, nextId, events } = client.options;
  const puts = action.parts.filter(({ does }) => does !== 'delete');
  const name = `b${nextId()}`;
  const parts = action.parts.map((part) => {
    const id = part.does === 'delete' ? undefined : `${name}.${puts.indexOf(part)}of${puts.length}`;
    return { ...part, name: client.nameOf(part.key), id };
  });
  const call = recorder.begin(life);
  const items = parts.map(({ does, name: key, id }): BatchItem<Value> => {
    if (id === undefined) return { key, delete: true };
    return { key, value: client.newValue(action.bytes, id), ...(does === 'put' ? {} : { ifAbsent: true }) };
  });
  const codes = client.writeCodes(0, true);
  const answer = await client.ask('batch', call, action.timeoutMs, codes, () =>
    table.batch(items, given({ timeoutMs: action.timeoutMs })),
  );
  if (answer.kind === 'value') events.count('batch of a group');
  if (answer.kind === 'nothing') return events.count(`batch that wrote nothing: ${answer.code}`);
  for (const [at, { name: key, does, id }] of parts.entries()) {
    const version = answer.kind === 'value' ? answer.value[at]?.version : undefined;
    if (id !== undefined && version !== undefined) recorder.shows(key, version, id);
    const isKnown = answer.kind === 'value';
    const makes: Judged = (seen, state) => {
      if (does === 'put') return [id];
      if (does === 'putIfAbsent') return seen.includes(undefined) ? [id] : [];
      if (isKnown && version === undefined) return seen.includes(undefined) ? [state] : [];
      return isKnown && seen.every((one) => one === undefined) ? [] : [undefined];
    };
    recorder.add(key, `${does} ${id ?? ''} of a batch`, call, isKnown, makes);
  }
}

/** A clear deletes each key at a moment of its own. After a failure nobody knows which. */
export async function clear(client: Client, action: Clearing, life: Caller, table: CalledTable): Promise<void> {
  const { recorder, scenario, events } = client.options;
  const [from = 0, to = scenario.keyCount] = action.range ?? [];
  const range = action.range === undefined ? {} : { from: client.nameOf(from), to: client.nameOf(to) };
  const call = recorder.begin(life);
  // Its deadline is that of each leaf.
  const codes = client.writeCodes(0, true);
  const answer = await client.ask('clear', { ...call, naps: -1 }, undefined, codes, () =>
    table.clear(given({ timeoutMs: action.timeoutMs, ...range })),
  );
  const isKnown = answer.kind === 'value';
  const keys = Array.from({ length: scenario.keyCount }, (_, key) => key).filter((key) => key >= from && key < to);
  if (isKnown && answer.value > keys.length) recorder.complain('a clear deleted more records than there are keys');
  if (isKnown && answer.value > 0) events.count('records cleared');
  for (const key of keys)
    recorder.add(client.nameOf(key), 'clear', call, isKnown, (seen, state) => [
      undefined,
      // An expired record may stay.
      ...(state !== undefined && seen.includes(undefined) ? [state] : []),
    ]);
}

/** The default deadline of a verification. */
const VERIFIED_MS = 24 * 3_600_000;

export async function administer(client: Client, action: OnTable, life: Caller): Promise<void> {
  const { recorder, events } = client.options;
  const call = recorder.begin(life);
  const ask = <T>(work: () => Promise<T>, timeoutMs = action.timeoutMs) =>
    client.ask(action.kind, call, timeoutMs, [...client.writeCodes(), 'not_found'], work);
  const options = given({ timeoutMs: action.timeoutMs });
  switch (action.kind) {
    case 'vacuum': {
      const { quietMs } = action;
      const answer = await ask(
        () => life.store.vacuum(TABLE, { ...options, quietMs }),
        action.timeoutMs ?? TIMEOUT_MS + quietMs,
      );
      if (answer.kind === 'value') {
        events.count('vacuum left an orphan it could not judge', answer.value.left);
        events.count('pair left alone, as it was not quiet', answer.value.busy);
        events.count('leaf purged', answer.value.purged);
        events.count('merge finished by a vacuum', answer.value.merged);
      }
      return;
    }
    case 'drop': {
      const answer = await ask(() => life.store.drop(TABLE, options));
      if (answer.kind !== 'nothing') drops(client, call, answer.kind === 'value' ? answer.value : undefined);
      return;
    }
    case 'reopen':
      return client.forget(life);
    case 'verify': {
      const answer = await ask(() => life.store.verify(TABLE, options), VERIFIED_MS);
      if (answer.kind !== 'value') return;
      events.count('verification beside others');
      for (const { container, message } of answer.value.findings)
        recorder.complain(`verification of ${container} beside others: ${message}`);
      return;
    }
    case 'repair': {
      const save = async ({ container }: Taken): Promise<void> =>
        recorder.complain(`a repair took ${container}, which was well`);
      const answer = await ask(() => life.store.repair(TABLE, { ...options, save }), VERIFIED_MS);
      if (answer.kind === 'value') events.count('repair beside others');
      return;
    }
    case 'tables': {
      const answer = await ask(() => life.store.tables(options));
      if (answer.kind === 'value' && new Set(answer.value.map(({ name }) => name)).size !== answer.value.length)
        recorder.complain('tables() names one twice');
      return;
    }
    default:
      action satisfies never;
  }
}

/** A drop deletes each record at its own moment. `isDropped` undefined: its fate is unknown. */
function drops(client: Client, call: Call, isDropped: boolean | undefined): void {
  const { recorder, scenario } = client.options;
  for (let key = 0; key < scenario.keyCount; key += 1) {
    const what = isDropped === false ? 'drop: no table' : 'drop';
    recorder.add(client.nameOf(key), what, call, isDropped !== undefined, (seen) =>
      isDropped !== false || seen.includes(undefined) ? [undefined] : [],
    );
  }
}

/** Equal keys of a batch take effect in the given order, except operations of unknown fate. */
function chainIn(recorder: Recorder, call: Call) {
  const last = new Map<string, Operation>();
  return (key: string, name: string, isKnown: boolean, judged: Judged): void => {
    const operation = recorder.add(key, name, call, isKnown, judged, { after: last.get(key) });
    if (isKnown) last.set(key, operation);
  };
}

async function collect(
  table: CalledTable,
  options: ScanOptions,
): Promise<{ entries: Entry<Value>[]; cursor: string | undefined }> {
  const scan = table.scan(options);
  return { entries: await Array.fromAsync(scan), cursor: scan.cursor };
}

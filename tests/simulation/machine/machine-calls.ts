// What callers ask of the machine, and what their answers say of the record.
import { outcomeUnknown } from '../../../shared/store/container/attempts.ts';
import { type Action, Change, type Verdict } from '../../../shared/store/container/change.ts';
import { findRecord } from '../../../shared/store/container/layers.ts';
import { pageOf } from '../../../shared/store/container/snapshot.ts';
import { StoreError } from '../../../shared/store/contract/errors.ts';
import { encodeKey, positionsOf } from '../../../shared/store/format/position.ts';
import { isExpired, type StoredRecord } from '../../../shared/store/format/page-body.ts';
import type { State } from '../history.ts';
import type { Life } from '../process.ts';
import type { Recorder } from '../recorder.ts';
import { keyName, TABLE } from '../scenario.ts';
import type { EventStore } from './event-store.ts';
import type { Input, MachineScenario } from './machine-scenario.ts';

const CONFLICT = new StoreError('conflict', 'the record is there');
/** Codes with which a call may fail. */
const READ_CODES = ['aborted', 'unavailable', 'throttled'];
const WRITE_CODES = [...READ_CODES, 'unknown', 'conflict', 'too_large'];

export class Callers {
  readonly #scenario: MachineScenario;
  readonly #recorder: Recorder;
  readonly #positionOf: ReturnType<typeof positionsOf>;
  /** Writes without an answer. */
  readonly #open = new Set<() => void>();
  #lastId = 0;

  constructor(scenario: MachineScenario, recorder: Recorder) {
    this.#scenario = scenario;
    this.#recorder = recorder;
    this.#positionOf = positionsOf(scenario.order, 0);
  }

  ask(life: Life<EventStore>, input: Input): void {
    const name = keyName({ ...this.#scenario, groupBy: undefined }, input.key);
    const key = encodeKey(name, TABLE);
    const position = this.#positionOf(key);
    if (input.kind === 'merge') return life.store.merge(position);
    if (input.kind === 'get') this.get(life, name, input.timeoutMs);
    else this.#write(life, input, name, { key, position });
  }

  /** The writes of processes that died were never answered. */
  cutOff(): void {
    for (const cut of this.#open) cut();
  }

  /** `hears` is told of a record that was found. */
  get(life: Life<EventStore>, name: string, timeoutMs: number, hears?: (version: string) => void): void {
    const call = this.#recorder.begin(life);
    const key = encodeKey(name, TABLE);
    const position = this.#positionOf(key);
    let isOver = false;
    const end = (): boolean => !isOver && (isOver = true);
    life.store.after(timeoutMs, end);
    life.store.find(position, (found) => {
      if (!end()) return;
      this.#recorder.ends(`get ${name}`, call, timeoutMs);
      if ('error' in found) {
        this.#recorder.fails(`get ${name}`, found.error, READ_CODES);
        return;
      }
      const leaf = found.snapshot!;
      const record = findRecord(leaf.header, position, key, (ref) => pageOf(leaf, ref, TABLE));
      const isThere = record !== undefined && !isExpired(record, life.wallMs());
      const shown = isThere ? idOf(record) : undefined;
      if (isThere) {
        const version = versionOf(leaf.header.incarnation, record.version);
        this.#recorder.shows(name, version, shown!);
        hears?.(version);
      }
      const isSeen = (seen: readonly State[], state: State) => (seen.includes(shown) ? [state] : []);
      this.#recorder.add(name, `get ${shown ?? 'absent'}`, call, true, isSeen, { isRead: true });
    });
  }

  #write(life: Life<EventStore>, input: Input, name: string, where: Pick<Change, 'key' | 'position'>): void {
    const recorder = this.#recorder;
    const { kind, timeoutMs, ttlMs } = input;
    const call = recorder.begin(life);
    const written = new Written(`w${(this.#lastId += 1)}`, input, life.wallMs());
    recorder.expires(written.id, ttlMs);
    const what = `${kind} ${written.id}`;
    const cut = (): void =>
      void recorder.add(name, what, call, false, (seen, state) => written.may(seen, state), { writes: written.id });
    this.#open.add(cut);
    const settled = (_: number, verdict: Verdict): void => {
      this.#open.delete(cut);
      recorder.ends(`${what} of ${name}`, call, timeoutMs);
      if (verdict.kind === 'failed') {
        const { faults } = this.#scenario;
        const allowed = faults['refused for its size'] === undefined ? WRITE_CODES : [...WRITE_CODES, 'invalid'];
        if (recorder.fails(`${what} of ${name}`, verdict.error, allowed) === 'unknown') return cut();
        if (verdict.error === CONFLICT)
          recorder.add(name, `${what}: conflict`, call, true, (seen, state) => (seen.some(isThere) ? [state] : []), {
            isRead: true,
          });
        return;
      }
      if (verdict.kind === 'unchanged')
        return void recorder.add(
          name,
          `${what}: absent`,
          call,
          true,
          (seen, state) => (kind === 'delete' && seen.includes(undefined) ? [state] : []),
          { isRead: true },
        );
      const { record, incarnation, version } = verdict;
      if (kind !== 'delete') {
        recorder.settleExpiry(written.id, call, ttlMs);
        recorder.shows(name, versionOf(incarnation, version), record === undefined ? written.id : idOf(record));
      }
      recorder.add(name, what, call, true, (seen) => written.must(seen, record && idOf(record)), { version });
    };
    const { clock } = life.store;
    const { tick, monotonicMs } = clock.now();
    const asked = { ...where, order: this.#scenario.order, level: 0, bytes: 0, begunTick: tick, index: 0 };
    const change = new Change({
      ...asked,
      action: written.action,
      dueMs: monotonicMs + timeoutMs,
      sink: { settled },
    });
    life.store.after(timeoutMs, () => {
      const ended = change.throttling ?? new StoreError('aborted', 'its time is over');
      change.settle({
        kind: 'failed',
        error: change.doubtfulAttempts > 0 ? outcomeUnknown(change, TABLE, ended) : ended,
      });
    });
    life.store.submit([change]);
  }
}

/** What one write does to the record. */
class Written {
  readonly id: string;
  readonly action: Action;
  readonly #kind: Input['kind'];
  /** Each run of an update is a write of its own. At most one of them takes effect. */
  readonly #tries: { readonly id: string; readonly before: State }[] = [];

  constructor(id: string, { kind, bytes, ttlMs }: Input, wallMs: number) {
    this.id = id;
    this.#kind = kind;
    const expiresAtMs = ttlMs === undefined ? undefined : wallMs + ttlMs;
    const write = (value: string) =>
      ({ kind: 'write', codec: 0, value: Buffer.from(`${value} ${'.'.repeat(bytes)}`), expiresAtMs }) as const;
    if (kind === 'put') this.action = write(id);
    else if (kind === 'delete') this.action = (current) => ({ kind: current === undefined ? 'none' : 'remove' });
    else if (kind === 'putIfAbsent')
      this.action = (current) => (current === undefined ? write(id) : { kind: 'none', error: CONFLICT });
    else
      this.action = (current) => {
        const one = { id: `${id}.${this.#tries.length}`, before: current && idOf(current) };
        this.#tries.push(one);
        return write(one.id);
      };
  }

  /** The states that it leaves, as it was answered. `made`: the record that the answer shows. */
  must(seen: readonly State[], made: State): readonly State[] {
    if (this.#kind === 'update')
      return this.#tries.some(({ id, before }) => id === made && seen.includes(before)) ? [made] : [];
    if (this.#kind === 'delete') return seen.some(isThere) ? [undefined] : [];
    return this.#kind === 'put' || seen.includes(undefined) ? [this.id] : [];
  }

  /** The states that it may leave if nobody knows what became of it. */
  may(seen: readonly State[], state: State): readonly State[] {
    if (this.#kind === 'update') return this.#tries.filter(({ before }) => seen.includes(before)).map(({ id }) => id);
    return this.#kind === 'delete' && !seen.some(isThere) ? [state] : this.must(seen, undefined);
  }
}

function isThere(state: State): boolean {
  return state !== undefined;
}

function idOf({ value }: StoredRecord): string {
  return Buffer.from(value).toString('latin1').split(' ')[0]!;
}

function versionOf(incarnation: string, version: number): string {
  return `${incarnation}-${version.toString(36)}`;
}

// A worker from its start to its end, as the simulation's clients know a process.
// A kill leaves its calls unanswered.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Writable } from 'node:stream';
import { DELETE, type Entry, StoreError, type VerifyReport } from '../../shared/store/index.ts';
import type { Caller, CalledTable, Value } from '../simulation/caller.ts';
import { type Asked, CHANGE_FD, type Said, type Where } from './worker-lines.ts';

const WORKER = fileURLToPath(new URL('fault-worker.ts', import.meta.url));

/** As `Table` has it. */
type Change = (current: Entry<Value> | undefined) => Value | typeof DELETE | undefined;

interface Asking {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly change: Change | undefined;
  /** Thrown by `change`. */
  thrown?: unknown;
}

export class WorkerLife implements Caller {
  readonly tables: unknown[] = [];
  readonly naps = NaN;
  readonly wakesAtMs = 0;
  isDead = false;
  readonly crashed: Promise<void>;
  readonly process: { readonly index: number; readonly wallJumpsMs: number };
  readonly number: number;
  readonly store: Caller['store'];
  readonly #child: ChildProcess;
  readonly #asking = new Map<number, Asking>();
  #lastId = 0;

  constructor(index: number, number: number, where: Where) {
    this.process = { index, wallJumpsMs: 0 };
    this.number = number;
    this.#child = spawn(process.execPath, [WORKER, JSON.stringify(where)], {
      stdio: ['pipe', 'pipe', 'inherit', 'pipe'],
    });
    for (const stream of [this.#child.stdin!, this.#changes()]) stream.on('error', () => {});
    createInterface(this.#child.stdout!).on('line', (line) => this.#hear(JSON.parse(line) as Said));
    // It has closed when its last line was heard.
    this.crashed = once(this.#child, 'close').then(() => void (this.isDead = true));
    this.store = this.#store();
  }

  wallMs(): number {
    return Date.now();
  }

  signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(name);
  }

  verify(): Promise<VerifyReport> {
    return this.#ask('verify', ['t']);
  }

  /** Lets it end by itself; kills it after a while. */
  async end(): Promise<void> {
    this.#child.stdin!.end();
    await Promise.race([this.crashed, delay(5_000, undefined, { ref: false })]);
    this.signal('SIGKILL');
    await this.crashed;
  }

  #changes(): Writable {
    return this.#child.stdio[CHANGE_FD] as Writable;
  }

  #ask<T>(method: Asked['method'], args: readonly unknown[], change?: Change): Promise<T> {
    return new Promise((resolve, reject) => {
      const id = (this.#lastId += 1);
      this.#asking.set(id, { resolve: resolve as (value: unknown) => void, reject, change });
      this.#child.stdin!.write(`${JSON.stringify({ id, method, args } satisfies Asked)}\n`);
    });
  }

  #hear(said: Said): void {
    const asking = this.#asking.get(said.id)!;
    if ('isChange' in said) return this.#change(asking, said.value as Entry<Value> | undefined);
    this.#asking.delete(said.id);
    if ('error' in said) asking.reject(errorOf(said.error));
    else if (!('broken' in said)) asking.resolve(said.value);
    else asking.reject(asking.thrown ?? new Error(said.broken));
  }

  #change(asking: Asking, current: Entry<Value> | undefined): void {
    let line: object;
    try {
      const value = asking.change!(current);
      line = { value, isDelete: value === DELETE };
    } catch (error) {
      asking.thrown = error;
      line = { isThrown: true };
    }
    this.#changes().write(`${JSON.stringify(line)}\n`);
  }

  #store(): Caller['store'] {
    const ask = this.#ask.bind(this);
    const table: CalledTable = {
      get: (...args) => ask('get', args),
      put: (...args) => ask('put', args),
      update: (key, change, options) => ask('update', [key, options], change),
      delete: (...args) => ask('delete', args),
      getMany: async (...args) => outcomesOf(await ask('getMany', args)),
      putMany: (async (...args: unknown[]) => outcomesOf(await ask('putMany', args))) as CalledTable['putMany'],
      deleteMany: (async (...args: unknown[]) =>
        outcomesOf(await ask('deleteMany', args))) as CalledTable['deleteMany'],
      batch: (...args) => ask('batch', args),
      clear: (...args) => ask('clear', args),
      scan: (options) => scanOf(() => ask('scan', [options])) as ReturnType<CalledTable['scan']>,
    };
    return {
      table: async (...args) => {
        await ask('table', args);
        return table as never;
      },
      tables: (...args) => ask('tables', args),
      drop: (...args) => ask('drop', args),
      vacuum: (...args) => ask('vacuum', args),
      verify: (...args) => ask('verify', args),
      repair: () => Promise.reject(new TypeError('nobody repairs here')),
    };
  }
}

/** A StoreError as its `toJSON` wrote it. The message names table, key and container already. */
function errorOf({ code, message, retryable, cause }: Partial<StoreError>): StoreError {
  return new StoreError(code!, message!, { retryable, cause });
}

function outcomesOf<T>(outcomes: unknown): T[] {
  return (outcomes as { readonly error?: StoreError }[]).map((outcome) =>
    outcome.error === undefined ? outcome : { ...outcome, error: errorOf(outcome.error) },
  ) as T[];
}

/** A scan of one answer. */
function scanOf(
  fetch: () => Promise<{ readonly entries: readonly Entry<Value>[]; readonly cursor?: string }>,
): AsyncIterable<Entry<Value>> & { cursor: string | undefined } {
  return {
    cursor: undefined,
    async *[Symbol.asyncIterator]() {
      const { entries, cursor } = await fetch();
      this.cursor = cursor;
      yield* entries;
    },
  };
}

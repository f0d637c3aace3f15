// The plain layouts on a modelled service: an entity a record, of bytes without content.
import type { Provider } from '../../kit/dimensions.ts';
import { BATCHING } from '../../work/baseline.ts';
import { type Access, type Describe, ServiceFailure, Transaction } from './request.ts';
import { sendBySdk } from './sdk.ts';
import type { ModelledService } from './service.ts';

/** The records of a plain table. Tables that share it are instances that share a database. */
export interface PlainState {
  readonly records: Map<string, PlainRecord>;
  /** Bytes of a record that nobody wrote and that is there; undefined: there is none. */
  readonly madeUp: (key: string) => number | undefined;
}

interface PlainRecord {
  readonly version: number;
  readonly bytes: number;
}

/** A table that holds what `madeUp` says; without it, an empty one. */
export function plainState(madeUp: PlainState['madeUp'] = () => undefined): PlainState {
  return { records: new Map(), madeUp };
}

/** A record as it is handed over: its bytes are those of its fields. */
type PlainItem = Pick<PlainRecord, 'bytes'> & { readonly key: string };

interface Habits {
  /** Index rows that a write of a record changes: four indexed fields, up and down. */
  readonly indexRows: number;
  readonly batch: 'transaction' | 'commit';
  /** Whether a record is modified in a transaction; else on condition of its version. */
  readonly hasTransactions: boolean;
}

const HABITS: Readonly<Record<Provider, Habits>> = {
  datastore: { indexRows: 8, batch: 'commit', hasTransactions: true },
  'azure-tables': { indexRows: 0, batch: 'transaction', hasTransactions: false },
};

/** Every call rejects with a ServiceFailure when the SDK's retries are used up. */
export class PlainTable {
  readonly #service: ModelledService;
  readonly #state: PlainState;
  readonly #habits: Habits;

  constructor(service: ModelledService, state: PlainState) {
    this.#service = service;
    this.#state = state;
    this.#habits = HABITS[service.parameters.data.provider];
  }

  async get(key: string): Promise<number | undefined> {
    return (await this.#read(key))?.bytes;
  }

  /** Bytes of at most `getManyMax` distinct records, in order. One request. */
  async getMany(keys: readonly string[]): Promise<readonly (number | undefined)[]> {
    const accesses = keys.map((key) => this.#access(key, 'read', 0));
    const kind = keys.length === 1 ? 'get' : 'getMany';
    const effect = () => keys.map((key) => this.#held(key)?.bytes);
    return sendBySdk(this.#service, { kind, accesses, effect, describe: describeMany });
  }

  /** Replaces the whole record without reading it first, or creates it. One request. */
  put(key: string, bytes: number): Promise<void> {
    const accesses = [this.#access(key, 'write', bytes)];
    return sendBySdk(this.#service, { kind: 'commit', accesses, effect: () => this.#write(key, bytes) });
  }

  /** Creates the record; false if it exists. One request. */
  async insert(key: string, bytes: number): Promise<boolean> {
    return this.#writeIf({ key, bytes }, () => this.#held(key) === undefined);
  }

  /** Two requests, on Datastore a transaction. `conflict`: another wrote it; false: absent. */
  async modify(key: string, bytes: number): Promise<boolean | 'conflict'> {
    if (!this.#habits.hasTransactions) return this.#modify({ key, bytes });
    const transaction = new Transaction();
    try {
      const outcome = await this.#modify({ key, bytes }, transaction);
      if (outcome === false) this.#service.endUncommitted(transaction, true);
      return outcome;
    } catch (error) {
      this.#service.endUncommitted(transaction, false);
      if (error instanceof ServiceFailure && error.code === 'contended') return 'conflict';
      throw error;
    }
  }

  /** One request, begin and commit together. Distinct keys of one lane, at most `putManyMax`. */
  async putMany(records: readonly PlainItem[]): Promise<void> {
    const accesses = records.map(({ key, bytes }) => this.#access(key, 'write', bytes));
    const effect = (): void => {
      for (const { key, bytes } of records) this.#write(key, bytes);
    };
    await sendBySdk(this.#service, { kind: this.#habits.batch, accesses, effect });
  }

  async #modify(record: PlainItem, transaction?: Transaction): Promise<boolean | 'conflict'> {
    const read = await this.#read(record.key, transaction);
    if (read === undefined) return false;
    const isUnchanged = (): boolean => this.#held(record.key)?.version === read.version;
    return (await this.#writeIf(record, isUnchanged, transaction)) || 'conflict';
  }

  #read(key: string, transaction?: Transaction): Promise<PlainRecord | undefined> {
    const accesses = [this.#access(key, 'read', 0)];
    const effect = (): PlainRecord | undefined => this.#held(key);
    return sendBySdk(this.#service, { kind: 'get', accesses, effect, describe: describeRecord, transaction });
  }

  async #writeIf({ key, bytes }: PlainItem, holds: () => boolean, transaction?: Transaction): Promise<boolean> {
    const effect = (): boolean => {
      const isWritten = holds();
      if (isWritten) this.#write(key, bytes);
      return isWritten;
    };
    const accesses = [this.#access(key, 'write', bytes)];
    return sendBySdk(this.#service, { kind: 'commit', accesses, effect, describe: describeWritten, transaction });
  }

  #access(key: string, kind: Access['kind'], bytes: number): Access {
    // Azure: the key's partition. On Datastore all keys are of one kind.
    const partition = BATCHING[this.#service.parameters.data.provider].lane(key);
    const access = { id: key, partition, kind, bytes };
    return kind === 'write' ? { ...access, indexRows: this.#habits.indexRows } : access;
  }

  #held(key: string): PlainRecord | undefined {
    const held = this.#state.records.get(key);
    if (held !== undefined) return held;
    const bytes = this.#state.madeUp(key);
    return bytes === undefined ? undefined : { version: 0, bytes };
  }

  #write(key: string, bytes: number): void {
    this.#state.records.set(key, { version: (this.#held(key)?.version ?? 0) + 1, bytes });
  }
}

const describeRecord: Describe<PlainRecord | undefined> = (record, reply) => {
  reply.bytes = record?.bytes ?? 0;
};

const describeMany: Describe<readonly (number | undefined)[]> = (found, reply) => {
  for (const bytes of found) reply.bytes += bytes ?? 0;
};

const describeWritten: Describe<boolean> = (isWritten, reply) => {
  reply.isRefused = !isWritten;
};

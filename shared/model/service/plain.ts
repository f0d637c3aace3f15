// The plain layouts on a modelled service: one entity a record, as the comparison's baselines write and read them.
import type { ModelledService } from './service.ts';
import type { Access, RequestKind } from './request.ts';

/** What the provider holds of a plain table. Tables that share one are instances that share a database. */
export interface PlainState {
  readonly entities: Map<string, PlainEntity>;
  /** Makes up the bytes of a record that nobody wrote; undefined: there is none. */
  readonly madeUp?: (key: string) => number | undefined;
}

export interface PlainEntity {
  readonly version: number;
  readonly bytes: number;
}

export function plainState(madeUp?: (key: string) => number | undefined): PlainState {
  return { entities: new Map(), ...(madeUp === undefined ? {} : { madeUp }) };
}

/** The outcome of a conditional write. */
export interface PutOutcome {
  /** How often it was refused because of another's write. */
  readonly conflicts: number;
}

/** After this many milliseconds a request's caller gives up: the SDKs' own patience is longer, and tells nothing sooner. */
const TIMEOUT_MS = 60_000;

export class PlainTable {
  readonly #service: ModelledService;
  readonly #state: PlainState;
  readonly #partitionOf: (key: string) => string;
  readonly putManyMax: number;
  readonly getManyMax: number;

  /** `tenantOf` tells a key's partition on Azure; on Datastore all keys are of one kind. */
  constructor(service: ModelledService, state: PlainState, tenantOf: (key: string) => string) {
    const isAzure = service.parameters.data.provider === 'azure-tables';
    this.#service = service;
    this.#state = state;
    this.#partitionOf = isAzure ? tenantOf : () => 'Record';
    this.putManyMax = isAzure ? 100 : 500;
    this.getManyMax = isAzure ? 1 : 500;
  }

  /** Records of one lane may share a `putMany`. */
  lane(key: string): string {
    return this.#partitionOf(key);
  }

  /** The record's bytes; undefined if there is none. */
  async get(key: string): Promise<number | undefined> {
    return this.#send('get', [this.#access(key, 'read', 0)], () => this.#held(key)?.bytes);
  }

  /** Bytes of each record, in order. */
  async getMany(keys: readonly string[]): Promise<readonly (number | undefined)[]> {
    return this.#send(
      'getMany',
      keys.map((key) => this.#access(key, 'read', 0)),
      () => keys.map((key) => this.#held(key)?.bytes),
    );
  }

  /** Replaces the whole record without reading it first. */
  async put(key: string, bytes: number): Promise<void> {
    return this.#send('commit', [this.#access(key, 'write', bytes)], () => this.#write(key, bytes));
  }

  /** Creates the record; false if it exists. */
  async insert(key: string, bytes: number): Promise<boolean> {
    return this.#send('commit', [this.#access(key, 'write', bytes)], () => {
      if (this.#held(key) !== undefined) return false;
      this.#write(key, bytes);
      return true;
    });
  }

  /** Reads the record and writes it on condition that nobody else did, again and again until that holds. */
  async putIfUnchanged(key: string, bytes: number): Promise<PutOutcome> {
    for (let conflicts = 0; ; conflicts += 1) {
      const seen = await this.#send('get', [this.#access(key, 'read', 0)], () => this.#held(key)?.version);
      const isWritten = await this.#send('commit', [this.#access(key, 'write', bytes)], () => {
        if (this.#held(key)?.version !== seen) return false;
        this.#write(key, bytes);
        return true;
      });
      if (isWritten) return { conflicts };
    }
  }

  /** Writes at most `putManyMax` records of one lane, present or not, in one request. */
  async putMany(records: readonly { readonly key: string; readonly bytes: number }[]): Promise<void> {
    const kind = this.getManyMax === 1 ? 'transaction' : 'commit';
    return this.#send(
      kind,
      records.map(({ key, bytes }) => this.#access(key, 'write', bytes)),
      () => {
        for (const { key, bytes } of records) this.#write(key, bytes);
      },
    );
  }

  #send<T>(kind: RequestKind, accesses: readonly Access[], effect: () => T): Promise<T> {
    return this.#service.send({ kind, accesses, timeoutMs: TIMEOUT_MS }, effect);
  }

  #access(key: string, kind: Access['kind'], bytes: number): Access {
    return { id: key, partition: this.#partitionOf(key), kind, bytes };
  }

  #held(key: string): PlainEntity | undefined {
    const held = this.#state.entities.get(key);
    if (held !== undefined) return held;
    const bytes = this.#state.madeUp?.(key);
    return bytes === undefined ? undefined : { version: 0, bytes };
  }

  #write(key: string, bytes: number): void {
    this.#state.entities.set(key, { version: (this.#held(key)?.version ?? 0) + 1, bytes });
  }
}

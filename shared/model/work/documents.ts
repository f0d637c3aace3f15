// The experiments of documents B, C and E, sent to a modelled service: the clouds that their authors had, or those of today. What their
// programs did beside their requests is not modelled.
import type { ProviderParameters, RequestKind } from '../data/parameters.ts';
import type { Access, Describe } from '../service/request.ts';
import { Sdk } from '../service/sdk.ts';
import { ModelledService } from '../service/service.ts';
import { Scheduler } from '../time/scheduler.ts';

/** Connections of document B's parallel loop: what ASP.NET of that day allowed a processor. With everything switched on it had 48. */
const B_CONNECTIONS = 12;
const B_CONNECTIONS_MOST = 48;
/** A text of 49 characters and a counter. */
const B_RECORD_BYTES = 53;
const B_RECORDS = 10_000;
const B_BATCH = 100;
/** Records that are written one by one; 10,000 would only take longer. */
const B_SINGLES = 100;

const C_RECORDS = 10;
const C_BYTES = { big: 10_000, small: 1 };

const E_BYTES = 500;
export const E_RECORDS = [1, 10, 100, 1_000] as const;

export interface DocumentOptions {
  readonly parameters: ProviderParameters;
  readonly seed: number;
}

/** Seconds for 10,000 entities, and what single entities come to a second. */
export interface DocumentB {
  readonly serial: number;
  readonly parallel: number;
  readonly everything: number;
  readonly singleEntitiesPerSecond: number;
}

/** Seconds for ten records. */
export interface DocumentC {
  readonly bigTransaction: number;
  readonly bigSingle: number;
  readonly smallSingle: number;
}

/** Milliseconds for 1, 10, 100 and 1,000 records; a batch of one is none. */
export interface DocumentE {
  readonly writeSingle: readonly number[];
  readonly writeBatch: readonly (number | undefined)[];
  readonly readSingle: readonly number[];
  readonly readBatch: readonly (number | undefined)[];
}

/** One run of document B. */
export async function documentB(options: DocumentOptions): Promise<DocumentB> {
  const batches = Array.from({ length: B_RECORDS / B_BATCH }, (_, batch) =>
    entities({ count: B_BATCH, from: batch * B_BATCH, kind: 'write', bytes: B_RECORD_BYTES }),
  );
  const insert = async (connections: number): Promise<number> =>
    (await timed(options, (send) => send.sideBySide('transaction', batches, connections))) / 1_000;
  const singles = entities({ count: B_SINGLES, from: 0, kind: 'write', bytes: B_RECORD_BYTES });
  const singlesMs = await timed(options, (send) => send.inARow('commit', singles));
  return {
    serial: await insert(1),
    parallel: await insert(B_CONNECTIONS),
    everything: await insert(B_CONNECTIONS_MOST),
    singleEntitiesPerSecond: (B_SINGLES * 1_000) / singlesMs,
  };
}

/** One run of document C. */
export async function documentC(options: DocumentOptions): Promise<DocumentC> {
  const records = (bytes: number): readonly Access[] => entities({ count: C_RECORDS, from: 0, kind: 'write', bytes });
  // Each variant draws its own times, as each run had its own.
  const single = async (bytes: number): Promise<number> =>
    (await timed({ ...options, seed: options.seed + bytes }, (send) => send.inARow('commit', records(bytes)))) / 1_000;
  const together = await timed(options, (send) => send.sideBySide('transaction', [records(C_BYTES.big)], 1));
  return {
    bigTransaction: together / 1_000,
    bigSingle: await single(C_BYTES.big),
    smallSingle: await single(C_BYTES.small),
  };
}

/** One run of document E. */
export async function documentE(options: DocumentOptions): Promise<DocumentE> {
  const single = (kind: 'read' | 'write') =>
    rows((count) => timed(options, (send) => send.inARow(kind === 'read' ? 'get' : 'commit', recordsOfE(count, kind))));
  const batch = (kind: 'read' | 'write') =>
    rows(async (count) => {
      if (count === 1) return undefined;
      const requests = [recordsOfE(count, kind)];
      return timed(options, (send) => send.sideBySide(kind === 'read' ? 'getMany' : 'commit', requests, 1));
    });
  return {
    writeSingle: await single('write'),
    writeBatch: await batch('write'),
    readSingle: await single('read'),
    readBatch: await batch('read'),
  };
}

async function rows<T>(measure: (count: number) => Promise<T>): Promise<T[]> {
  const times: T[] = [];
  for (const count of E_RECORDS) times.push(await measure(count));
  return times;
}

function recordsOfE(count: number, kind: 'read' | 'write'): readonly Access[] {
  return entities({ count, from: 0, kind, bytes: kind === 'read' ? 0 : E_BYTES });
}

interface Series {
  readonly count: number;
  readonly from: number;
  readonly kind: 'read' | 'write';
  readonly bytes: number;
}

function entities({ count, from, kind, bytes }: Series): readonly Access[] {
  return Array.from({ length: count }, (_, index) => ({ id: `r${from + index}`, partition: 'p', kind, bytes }));
}

/** Milliseconds that a run takes on a service of its own. */
async function timed({ parameters, seed }: DocumentOptions, work: (sender: Sender) => Promise<void>): Promise<number> {
  const scheduler = new Scheduler(seed);
  const sender = new Sender(new Sdk(new ModelledService({ scheduler, parameters, seed })));
  const run = scheduler.after(parameters.get('run.startMs')).then(() => work(sender));
  await scheduler.run(run, Infinity);
  return scheduler.nowMs;
}

/** A program that only sends. */
class Sender {
  readonly #sdk: Sdk;

  constructor(sdk: Sdk) {
    this.#sdk = sdk;
  }

  /** A request each, one after another. */
  async inARow(kind: RequestKind, accesses: readonly Access[]): Promise<void> {
    for (const access of accesses) await this.#send(kind, [access]);
  }

  /** These requests over so many connections. */
  async sideBySide(kind: RequestKind, requests: readonly (readonly Access[])[], connections: number): Promise<void> {
    const waiting = requests[Symbol.iterator]();
    const connection = async (): Promise<void> => {
      for (const accesses of waiting) await this.#send(kind, accesses);
    };
    await Promise.all(Array.from({ length: Math.min(connections, requests.length) }, connection));
  }

  #send(kind: RequestKind, accesses: readonly Access[]): Promise<undefined> {
    const bytes = accesses[0]?.kind === 'read' ? accesses.length * E_BYTES : 0;
    const describe: Describe<undefined> = (_, reply) => {
      reply.bytes = bytes;
    };
    return this.#sdk.send({ kind, accesses, effect: () => undefined, describe });
  }
}

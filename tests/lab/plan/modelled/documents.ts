// The experiments of documents B, C and E on a modelled service with their authors' clouds. The
// programs' work between requests is not modelled.
import type { ProviderParameters, RequestKind } from '../../../../shared/lab/cloud/data/parameters.ts';
import type { Access, Describe } from '../../../../shared/lab/cloud/service/request.ts';
import { Sdk } from '../../../../shared/lab/cloud/service/sdk.ts';
import { ModelledService } from '../../../../shared/lab/cloud/service/service.ts';
import { eachInFlight } from '../../../../shared/lab/load/closed-loop.ts';
import { Scheduler } from '../../../../shared/lab/cloud/time/scheduler.ts';

/** ASP.NET's default of 12 connections a processor, and 48 with all settings of document B on. */
const B_CONNECTIONS = 12;
const B_CONNECTIONS_MOST = 48;
/** A text of 49 characters and a counter. */
const B_RECORD_BYTES = 53;
const B_RECORDS = 10_000;
const B_BATCH = 100;
/** Records that are written one by one. 10,000 would only take longer. */
const B_SINGLES = 100;

const PARTITION = 'p';

const C_RECORDS = 10;
const C_BYTES = { big: 10_000, small: 1 };

const E_BYTES = 500;
const E_RECORDS = [1, 10, 100, 1_000] as const;

const ATTEMPTS_MAX = 5;

/** How a provider's SDK sends records together outside of a transaction. */
interface Habits {
  readonly write: RequestKind;
  readonly read: RequestKind;
}

const HABITS: Readonly<Record<'datastore' | 'azure-tables', Habits>> = {
  datastore: { write: 'commit', read: 'getMany' },
  'azure-tables': { write: 'transaction', read: 'query' },
};

export interface DocumentOptions {
  readonly parameters: ProviderParameters;
  readonly seed: number;
}

/** The figures of one run, named as in tests/lab/cloud/data/published-2007-2011.ts. */
export type DocumentRun = ReadonlyMap<string, number>;

/** One run of document B: seconds for 10,000 entities, and single entities a second. */
export async function documentB(options: DocumentOptions): Promise<DocumentRun> {
  const batches = Array.from({ length: B_RECORDS / B_BATCH }, (_, batch) =>
    entities({ count: B_BATCH, from: batch * B_BATCH, kind: 'write', bytes: B_RECORD_BYTES }),
  );
  const { write } = habitsOf(options);
  const insert = async (connections: number): Promise<number> =>
    (await timed(options, (send) => send.sideBySide(write, batches, connections))) / 1_000;
  const singles = entities({ count: B_SINGLES, from: 0, kind: 'write', bytes: B_RECORD_BYTES });
  const singlesMs = await timed(options, (send) => send.inARow('commit', singles));
  const serial = await insert(1);
  return new Map([
    ['single', (B_SINGLES * 1_000) / singlesMs],
    ['serial', serial],
    // The model has no connection settings. A sender that waits for each reply uses one connection.
    ['serial, 48 connections', serial],
    ['serial, without Expect: 100-continue', serial],
    ['serial, without Nagle', serial],
    ['parallel', await insert(B_CONNECTIONS)],
    ['everything', await insert(B_CONNECTIONS_MOST)],
  ]);
}

/** One run of document C: seconds for ten records. */
export async function documentC(options: DocumentOptions): Promise<DocumentRun> {
  // Each variant draws its own times, as each had its own run.
  const single = async (bytes: number): Promise<number> =>
    (await timed({ ...options, seed: options.seed + bytes }, (send) => send.inARow('commit', recordsOfC(bytes)))) /
    1_000;
  const together = async (kind: RequestKind, bytes: number): Promise<number> =>
    (await timed(options, (send) => send.sideBySide(kind, [recordsOfC(bytes)], 1))) / 1_000;
  return new Map([
    ['big, in a transaction', await together('transaction', C_BYTES.big)],
    ['big, one by one', await single(C_BYTES.big)],
    ['small, one by one', await single(C_BYTES.small)],
  ]);
}

/** One run of document E: milliseconds for each number of records. */
export async function documentE(options: DocumentOptions): Promise<DocumentRun> {
  const run = new Map<string, number>();
  const habits = habitsOf(options);
  for (const count of E_RECORDS) {
    const many = count.toLocaleString('en-US');
    const [writes, reads] = [recordsOfE(count, 'write'), recordsOfE(count, 'read')];
    run.set(`single writes of ${many}`, await timed(options, (send) => send.inARow('commit', writes)));
    run.set(`single reads of ${many}`, await timed(options, (send) => send.inARow('get', reads)));
    if (count === 1) continue;
    run.set(`batched write of ${many}`, await timed(options, (send) => send.sideBySide(habits.write, [writes], 1)));
    run.set(`batched read of ${many}`, await timed(options, (send) => send.together(habits.read, reads)));
  }
  return run;
}

function habitsOf({ parameters }: DocumentOptions): Habits {
  return HABITS[parameters.data.provider];
}

function recordsOfC(bytes: number): readonly Access[] {
  return entities({ count: C_RECORDS, from: 0, kind: 'write', bytes });
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
  return Array.from({ length: count }, (_, index) => ({
    id: scattered(from + index),
    partition: PARTITION,
    kind,
    bytes,
  }));
}

/** Keys far apart, as GUIDs are. Neighbours would all go to one range of Datastore. */
function scattered(index: number): string {
  return ((index * 2_654_435_761) % 2 ** 32).toString(16).padStart(8, '0');
}

/** The milliseconds that the work takes on a service of its own. */
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

  /** One request for each access, one after another. */
  async inARow(kind: RequestKind, accesses: readonly Access[]): Promise<void> {
    for (const access of accesses) await this.#send(kind, [access]);
  }

  /** Sends these requests over this many connections. */
  async sideBySide(kind: RequestKind, requests: readonly (readonly Access[])[], connections: number): Promise<void> {
    await eachInFlight(requests, connections, (accesses) => this.#send(kind, accesses));
  }

  /** Reads these in one request: by their keys, or by a query that finds them. */
  async together(kind: RequestKind, reads: readonly Access[]): Promise<void> {
    if (kind !== 'query') return this.#send(kind, reads);
    const whole: Access = { id: '', partition: PARTITION, kind: 'read', bytes: 0 };
    return this.#send(kind, [whole], reads.length);
  }

  /** Retries failures and counts their time, as the authors did. A query finds `found` records. */
  async #send(kind: RequestKind, accesses: readonly Access[], found = 0): Promise<void> {
    const records = Math.max(found, accesses.length);
    const bytes = accesses[0]?.kind === 'read' ? records * E_BYTES : 0;
    const describe: Describe<undefined> = (_, reply) => {
      reply.bytes = bytes;
      reply.entities = found;
    };
    const call = { kind, accesses, effect: () => undefined, describe };
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#sdk.send(call);
      } catch (error) {
        if (attempt === ATTEMPTS_MAX) throw error;
      }
    }
  }
}

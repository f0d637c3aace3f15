// The datasets of a plan's run: their names, who works on which records, and their removal.
import { type Coordinates, type DatasetRequest, RECORD_INDEX_MAX } from '../load/cell.ts';
import { isOfContainers, MIXES } from '../kit/dimensions.ts';
import { type Endpoint, messageOf, prepareDataset, removeDataset } from './endpoint.ts';
import type { Leftover, PlanEvent } from './outcome.ts';
import type { Plan } from './plan.ts';

/** Time to remove all datasets; those left are reported. The run's own signal does not end it. */
const REMOVAL_TIMEOUT_MS = 180_000;

/** Time to remove one dataset between two runs. */
const DROP_TIMEOUT_MS = 30_000;

/** Records that one instance may insert into a shared dataset. Datasets begin with fewer. */
const RANGE = 2 ** 20;

/** The first numbers of a load's instances: each has a 64th of all. */
const LOAD_RANGE = 2 ** 26;

interface Made {
  readonly endpoint: Endpoint;
  readonly dataset: string;
  /** When its first operation was sent. */
  readonly sinceMs: number;
  isLoaded: boolean;
  /** Ranges of record numbers in use, that of the first records among them. */
  rangesTaken: number;
}

/** Which dataset a run works on, and where each of its instances inserts. */
export interface Assigned {
  readonly request: DatasetRequest;
  readonly insertFrom: readonly number[];
}

export class Datasets {
  readonly #made = new Map<string, Made>();
  readonly #plan: Plan;
  readonly #runId: string;
  readonly #fetch: typeof fetch;
  readonly #tell: (event: PlanEvent) => void;
  #loads = 0;

  /** `tell` is called before a dataset is made, before it is loaded, and when it is removed. */
  constructor(plan: Plan, runId: string, fetchIt: typeof fetch, tell: (event: PlanEvent) => void) {
    this.#plan = plan;
    this.#runId = runId;
    this.#fetch = fetchIt;
    this.#tell = tell;
  }

  /** Loads it first, but for `load`. Rejects as `prepareDataset`, or when no numbers are left. */
  async take(cell: Coordinates, endpoint: Endpoint, signal: AbortSignal): Promise<Assigned> {
    const made = this.#madeFor(cell, endpoint);
    const { records, recordForm, seed, isRamped } = this.#plan;
    const { layout, recordBytes, containerKib } = cell;
    const { dataset } = made;
    const rampedSinceMs = isRamped ? made.sinceMs : null;
    const request = { layout, dataset, records, recordBytes, recordForm, containerKib, seed, rampedSinceMs };
    if (cell.workload === 'load') return { request, insertFrom: upTo(cell.instances).map((part) => part * LOAD_RANGE) };
    if (!made.isLoaded) {
      this.#tell({ kind: 'preparing', what: dataset });
      await prepareDataset(request, { endpoint, instance: 0, signal, fetch: this.#fetch });
      made.isLoaded = true;
    }
    const isInserting = MIXES[cell.workload].shares.insert !== undefined;
    return { request, insertFrom: upTo(cell.instances).map(() => (isInserting ? rangeOf(made) : 0)) };
  }

  /** Removes a dataset that no run needs any more. If that fails, `removeAll` tries again. */
  async drop(dataset: string): Promise<void> {
    try {
      await this.#remove(this.#made.get(dataset)!, DROP_TIMEOUT_MS);
      this.#made.delete(dataset);
    } catch {
      // It stays in the list.
    }
  }

  /** One after another at each endpoint; gives those that could not be removed. Never rejects. */
  async removeAll(endpoints: ReadonlySet<Endpoint>): Promise<Leftover[]> {
    const endMs = performance.now() + REMOVAL_TIMEOUT_MS;
    const left = [...endpoints].map((endpoint) => this.#removeAt(endpoint, endMs));
    return (await Promise.all(left)).flat();
  }

  async #removeAt(endpoint: Endpoint, endMs: number): Promise<Leftover[]> {
    const left: Leftover[] = [];
    for (const made of this.#made.values()) {
      if (made.endpoint !== endpoint) continue;
      const leftMs = Math.floor(endMs - performance.now());
      try {
        if (leftMs < 1) throw new Error('no time was left to remove it');
        await this.#remove(made, leftMs);
      } catch (error) {
        left.push({ provider: endpoint.provider, dataset: made.dataset, error: messageOf(error) });
      }
    }
    return left;
  }

  async #remove({ endpoint, dataset }: Made, timeoutMs: number): Promise<void> {
    await removeDataset(dataset, timeoutMs, { endpoint, instance: 0, fetch: this.#fetch });
    this.#tell({ kind: 'gone', provider: endpoint.provider, dataset });
  }

  #madeFor(cell: Coordinates, endpoint: Endpoint): Made {
    const dataset = this.#nameOf(cell);
    const known = this.#made.get(dataset);
    if (known !== undefined) return known;
    const made = { endpoint, dataset, sinceMs: Date.now(), isLoaded: false, rangesTaken: 1 };
    this.#made.set(dataset, made);
    this.#tell({ kind: 'making', provider: endpoint.provider, dataset });
    return made;
  }

  /** Each load has its own; else both layouts of the SDK share one, and both of containers. */
  #nameOf({ provider, layout, workload, recordBytes, containerKib }: Coordinates): string {
    if (workload === 'load') return `${this.#runId}l${(this.#loads += 1)}`;
    const kind = isOfContainers(layout) ? `c${containerKib ?? ''}` : 'b';
    return `${this.#runId}${provider === 'datastore' ? 'd' : 'a'}${recordBytes}${kind}`;
  }
}

function rangeOf(made: Made): number {
  const from = made.rangesTaken * RANGE;
  if (from + RANGE > RECORD_INDEX_MAX)
    throw new RangeError(`no record numbers are left in ${made.dataset}: use fewer repetitions or instances`);
  made.rangesTaken += 1;
  return from;
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, at) => at);
}

// A workload's operations: one seed gives every layout the same records and keys.
import { keyIndexes, type KeySpace } from './distributions.ts';
import { recordSource, type SampleRecord, TENANT_RUN, tenantEnd } from './sample-records.ts';
import { type Random, randomInt, scramble32, seededRandom } from '../kit/random.ts';
import {
  type KeyChoice,
  MIXES,
  type RecordForm,
  SCAN_RECORDS_MAX,
  type Verb,
  type Workload,
} from '../kit/dimensions.ts';

export type Operation =
  | { readonly kind: 'read'; readonly key: string }
  /** Replaces an existing record, whatever its fields. */
  | { readonly kind: 'update'; readonly record: SampleRecord }
  /** Creates a record, and is told whether that succeeded. */
  | { readonly kind: 'insert'; readonly record: SampleRecord; readonly ended: (isDone: boolean) => void }
  /** Reads a record and replaces it, without losing a change that others make in between. */
  | { readonly kind: 'modify'; readonly record: SampleRecord }
  /** In key order, at most `count` in [from, to). */
  | { readonly kind: 'scan'; readonly from: string; readonly to: string; readonly count: number };

/** Options of one instance's operations; load/cell.ts explains each field. */
interface SourceRequest {
  readonly workload: Workload;
  readonly keys: KeyChoice | null;
  readonly records: number;
  readonly recordBytes: number;
  readonly recordForm: RecordForm;
  readonly seed: number;
  readonly drawSeed: number;
  readonly insertFrom: number;
  readonly part: { readonly index: number };
}

/** Draws operations without end: others on each instance, with the same fields for each key. */
export function operationSource(request: SourceRequest): () => Operation {
  const { workload, records, recordBytes, recordForm, seed, drawSeed, part } = request;
  // Scrambled, because neighbouring seeds of this generator give similar draws.
  const random = seededRandom(scramble32(scramble32(drawSeed + 1) + part.index));
  const source = recordSource(seed, recordBytes, recordForm);
  const { shares, keys, recordsPerCall } = MIXES[workload];
  const inserts = new Inserts(records, request.insertFrom, shares.insert ?? 0);
  const verbOf = verbs(shares);
  const single = keys === null ? () => 0 : keyIndexes(request.keys ?? keys, inserts, random);
  const draw = recordsPerCall > 1 && keys !== null ? neighbours(single, recordsPerCall, records, random) : single;
  let round = 0;
  return () => {
    const verb = verbOf(random());
    round += 1;
    if (verb === 'insert') {
      const place = inserts.begin();
      return { kind: verb, record: source(inserts.indexAt(place), 0), ended: (isDone) => inserts.end(place, isDone) };
    }
    const record = source(inserts.indexAt(draw()), round);
    if (verb === 'read') return { kind: verb, key: record.key };
    if (verb !== 'scan') return { kind: verb, record };
    return { kind: verb, from: record.key, to: tenantEnd(record.key), count: 1 + randomInt(random, SCAN_RECORDS_MAX) };
  };
}

/**
 * Draws `count` different records of one tenant, then as many of the next one drawn. Their numbers
 * are consecutive; their keys, which are scrambled numbers, lie all over the tenant.
 */
function neighbours(draw: () => number, count: number, records: number, random: Random): () => number {
  let [from, size, offset, given] = [0, 0, 0, count];
  return () => {
    if (given === count) {
      from = Math.floor(draw() / TENANT_RUN) * TENANT_RUN;
      size = Math.min(TENANT_RUN, records - from);
      offset = randomInt(random, size);
      given = 0;
    }
    return from + ((offset + given++) % size);
  };
}

function verbs(shares: Readonly<Partial<Record<Verb, number>>>): (u: number) => Verb {
  const all = Object.entries(shares) as [Verb, number][];
  return (u) => {
    let below = 0;
    for (const [verb, share] of all) {
      below += share;
      if (u < below) return verb;
    }
    return all.at(-1)![0];
  };
}

/** Knows which records exist: as in YCSB, those before the first insert without an answer. */
class Inserts implements KeySpace {
  /** YCSB takes twice its `operationcount`, which its files set to the number of records. */
  readonly insertsExpected: number;
  readonly #records: number;
  readonly #from: number;
  #begun = 0;
  #done = 0;
  readonly #early = new Set<number>();

  constructor(records: number, from: number, share: number) {
    this.insertsExpected = Math.floor(2 * share * records);
    this.#records = records;
    this.#from = from;
  }

  readonly count = (): number => this.#records + this.#done;

  begin(): number {
    return this.#records + this.#begun++;
  }

  /** A failed insert is never repeated, so the records behind it stay unread. */
  end(place: number, isDone: boolean): void {
    if (!isDone) return;
    this.#early.add(place);
    while (this.#early.delete(this.count())) this.#done += 1;
  }

  /** The record's number, from its place among those that are there. */
  indexAt(place: number): number {
    return place < this.#records ? place : this.#from + place - this.#records;
  }
}

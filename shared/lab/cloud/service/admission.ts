// When a service takes up a request: rates of account and partition, ramps, hot ranges, queues.
import { NO_LIMIT, type ProviderParameters } from '../data/parameters.ts';
import { KeyRanges } from './key-ranges.ts';
import { PacedQueue, Ramp, TokenBucket } from './rate-limits.ts';
import type { Access, ModelRequest } from './request.ts';

interface Partition {
  readonly bucket: TokenBucket | undefined;
  readonly ramp: Ramp | undefined;
  readonly ranges: KeyRanges | undefined;
  readonly server: PacedQueue | undefined;
}

export class Admission {
  readonly #parameters: ProviderParameters;
  readonly #account: TokenBucket | undefined;
  readonly #unitBytes: number;
  readonly #partitions = new Map<string, Partition>();

  constructor(parameters: ProviderParameters) {
    this.#parameters = parameters;
    this.#account = bucketOf(parameters, 'account');
    this.#unitBytes = parameters.get('unit.kib') * 1_024;
  }

  /** Milliseconds before the request is taken up; undefined if it is throttled. */
  waitMs({ accesses }: ModelRequest, nowMs: number): number | undefined {
    let units = 0;
    let written = 0;
    for (const { bytes, kind } of accesses) {
      units += this.#unitsOf(bytes);
      if (kind !== 'read') written += 1;
    }
    if (this.#account?.take(nowMs, units) === false) return undefined;
    // All accesses of a request are of one partition, or of one kind.
    const { bucket, ramp, ranges, server } = this.#partition(accesses[0]?.partition ?? '', nowMs);
    if (bucket?.take(nowMs, units) === false) return undefined;
    const ramped = ramp === undefined ? 0 : ramp.waitMs(nowMs, accesses.length);
    const ranged = ranges === undefined || written === 0 ? 0 : longestWaitMs(ranges, accesses, nowMs);
    if (ramped === undefined || ranged === undefined) return undefined;
    // The server never refuses: whoever waits there has been admitted.
    const served = server === undefined || written === 0 ? 0 : server.waitMs(nowMs, written)!;
    return Math.max(ramped, ranged, served);
  }

  /** Counts a reply's bytes, which nobody knew when the request was taken up. */
  charge({ accesses }: ModelRequest, replyBytes: number, nowMs: number): void {
    const units = this.#unitsOf(replyBytes) - 1;
    if (units === 0) return;
    this.#account?.charge(nowMs, units);
    this.#partition(accesses[0]?.partition ?? '', nowMs).bucket?.charge(nowMs, units);
  }

  #unitsOf(bytes: number): number {
    return bytes <= this.#unitBytes ? 1 : Math.ceil(bytes / this.#unitBytes);
  }

  #partition(name: string, nowMs: number): Partition {
    const known = this.#partitions.get(name);
    if (known !== undefined) return known;
    const partition = newPartition(this.#parameters, nowMs);
    this.#partitions.set(name, partition);
    return partition;
  }
}

/** The longest wait among the writes; undefined if one of them is refused. */
function longestWaitMs(ranges: KeyRanges, accesses: readonly Access[], nowMs: number): number | undefined {
  let longest = 0;
  for (const { id, kind } of accesses) {
    if (kind === 'read') continue;
    const wait = ranges.waitMs(nowMs, id);
    if (wait === undefined) return undefined;
    if (wait > longest) longest = wait;
  }
  return longest;
}

function newPartition(parameters: ProviderParameters, nowMs: number): Partition {
  const isCold = parameters.get('ramp.isCold') > 0;
  const serialMs = parameters.get('partition.serialMsPerEntity');
  return {
    bucket: bucketOf(parameters, 'partition'),
    ramp: isCold ? new Ramp(parameters, nowMs) : undefined,
    ranges: parameters.get('range.writesPerSecond') < NO_LIMIT ? new KeyRanges(parameters, isCold) : undefined,
    server: serialMs > 0 ? new PacedQueue(1_000 / serialMs, Infinity) : undefined,
  };
}

function bucketOf(parameters: ProviderParameters, whose: 'account' | 'partition'): TokenBucket | undefined {
  const perSecond = parameters.get(`${whose}.unitsPerSecond`);
  return perSecond < NO_LIMIT ? new TokenBucket(perSecond, parameters.get(`${whose}.burstSeconds`)) : undefined;
}

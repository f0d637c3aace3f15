// The bill of functions for the calls they answer.
import { sum } from '../kit/numbers.ts';
import type { BilledPeriod, ProviderPrices, Quantities } from './prices.ts';

export interface Instance {
  readonly vcpus: number;
  readonly memoryGib: number;
  /** Calls that it answers at a time. */
  readonly concurrency: number;
}

/** As few as can take the calls' mean number. */
export function instancesFor(kinds: readonly CallKind[], concurrency: number): number {
  return Math.max(1, Math.ceil(callsInFlight(kinds) / concurrency));
}

/** On average. */
export function callsInFlight(kinds: readonly CallKind[]): number {
  return meanInFlight(kinds, (durationMs) => durationMs);
}

/** Calls of one kind, which take the same time. */
export interface CallKind {
  readonly callsPerDay: number;
  readonly durationMs: number;
}

const DAY_SECONDS = 86_400;

/** The time that is billed for an instance that works `durationMs`. */
export function billedMs(durationMs: number, { leastMs, stepMs }: BilledPeriod): number {
  return Math.max(leastMs, Math.ceil(durationMs / stepMs) * stepMs);
}

/** Calls begin at random, on as few instances as their mean number needs: the least to pay. */
export function billedSecondsADay(kinds: readonly CallKind[], { concurrency }: Instance, period: BilledPeriod): number {
  const instances = instancesFor(kinds, concurrency);
  const alone = meanInFlight(kinds, (durationMs) => billedMs(durationMs, period));
  // The share of time in which none of Poisson's calls is under way is e to the power of minus
  // their mean number (M/G/infinity).
  return DAY_SECONDS * instances * -Math.expm1(-alone / instances);
}

function meanInFlight(kinds: readonly CallKind[], lastsMs: (durationMs: number) => number): number {
  const busyMs = sum(kinds.map(({ callsPerDay, durationMs }) => callsPerDay * lastsMs(durationMs)));
  return busyMs / 1_000 / DAY_SECONDS;
}

/** A day's requests, memory, and processors where the provider bills them apart. */
export function computeQuantities(
  kinds: readonly CallKind[],
  instance: Instance,
  { billedPeriod, meters }: ProviderPrices,
): Quantities {
  const seconds = billedSecondsADay(kinds, instance, billedPeriod);
  return {
    requests: sum(kinds.map(({ callsPerDay }) => callsPerDay)),
    ...(meters.includes('vcpuSeconds') ? { vcpuSeconds: seconds * instance.vcpus } : {}),
    gibSeconds: seconds * instance.memoryGib,
  };
}

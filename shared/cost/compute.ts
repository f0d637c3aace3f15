// What functions are billed for the calls they answer.
import type { BilledPeriod, ProviderPrices, Quantities } from './prices.ts';

/** One instance of a function. */
export interface Instance {
  readonly vcpus: number;
  readonly memoryGib: number;
}

/** Calls that take the same time. */
export interface FunctionCalls {
  readonly calls: number;
  readonly durationMs: number;
  /** Calls that an instance answers at a time: they begin together and share one billed period. */
  readonly inFlight: number;
}

/** The time that is billed for an instance that works `durationMs`. */
export function billedMs(durationMs: number, { leastMs, stepMs }: BilledPeriod): number {
  return Math.max(leastMs, Math.ceil(durationMs / stepMs) * stepMs);
}

/** Requests, memory, and processors where the provider bills them apart. */
export function computeQuantities(
  { calls, durationMs, inFlight }: FunctionCalls,
  instance: Instance,
  { billedPeriod, meters }: ProviderPrices,
): Quantities {
  const seconds = ((calls / inFlight) * billedMs(durationMs, billedPeriod)) / 1_000;
  return {
    requests: calls,
    ...(meters.includes('vcpuSeconds') ? { vcpuSeconds: seconds * instance.vcpus } : {}),
    gibSeconds: seconds * instance.memoryGib,
  };
}

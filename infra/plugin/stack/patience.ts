// Retries for minutes, as long as new functions, roles and keys take to reach all of a cloud.
import type { Context } from '../context/deploy-context.ts';
import { DeployError } from '../context/deploy-settings.ts';
import { Stopped } from '../context/cloud-tools.ts';

export interface Retries {
  /** Default 10 minutes. */
  readonly patienceMs?: number;
  /** The pause between two attempts. Default 10 seconds. */
  readonly pauseMs?: number;
  /** Whether an error may pass; others are thrown at once. Default: all may. */
  readonly isPassing?: (error: unknown) => boolean;
}

/** Roles on Azure take up to ten minutes, mostly one or two. */
const PATIENCE_MS = 10 * 60_000;
const PAUSE_MS = 10_000;

/** When the time is up, throws a DeployError with `failed` and the last error. */
export async function patiently<Result>(
  { log, clock }: Context,
  failed: string,
  attempt: () => Promise<Result>,
  { patienceMs = PATIENCE_MS, pauseMs = PAUSE_MS, isPassing = () => true }: Retries = {},
): Promise<Result> {
  const deadlineMs = clock.nowMs() + patienceMs;
  for (let round = 1; ; round++) {
    try {
      return await attempt();
    } catch (error) {
      if (error instanceof Stopped || !isPassing(error)) throw error;
      const message = error instanceof Error ? error.message : String(error);
      if (clock.nowMs() + pauseMs > deadlineMs) throw new DeployError(`${failed}: ${message}`, { cause: error });
      // Its further lines are advice, which is not needed yet.
      if (round === 1)
        log(`not there yet (${message.split('\n')[0]!}); trying again for up to ${patienceMs / 60_000} minutes`);
      await clock.sleep(pauseMs);
    }
  }
}

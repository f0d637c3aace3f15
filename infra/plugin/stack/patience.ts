// Retries for minutes: new functions, roles and keys take that long to take effect everywhere in a cloud.
import type { Context } from '../context/context.ts';
import { DeployError } from '../context/settings.ts';
import { Interrupted } from '../context/tools.ts';

export interface Patience {
  /** Default 10 minutes. */
  readonly patienceMs?: number;
}

/** Roles on Azure take up to ten minutes, mostly one or two. */
const PATIENCE_MS = 10 * 60_000;
const PAUSE_MS = 10_000;

/** Retries until `attempt` succeeds. When the time is up, throws a DeployError with `failed` and the last error. */
export async function patiently<Result>(
  { log }: Context,
  failed: string,
  attempt: () => Promise<Result>,
  { patienceMs = PATIENCE_MS }: Patience = {},
): Promise<Result> {
  const deadlineMs = performance.now() + patienceMs;
  for (let round = 1; ; round++) {
    try {
      return await attempt();
    } catch (error) {
      if (error instanceof Interrupted) throw error;
      const message = error instanceof Error ? error.message : String(error);
      if (performance.now() + PAUSE_MS > deadlineMs) throw new DeployError(`${failed}: ${message}`, { cause: error });
      if (round === 1) log(`not there yet (${message}); trying for up to ${patienceMs / 60_000} minutes`);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}

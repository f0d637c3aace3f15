// A provider's own SDK as a sender of requests: its patience, and what it sends again by itself.
import type { Provider } from '../../kit/dimensions.ts';
import { power } from '../../kit/exact-math.ts';
import { type Describe, type Failure, type ModelRequest, ServiceFailure } from './request.ts';
import type { ModelledService } from './service.ts';

/** Datastore's client takes RESOURCE_EXHAUSTED and ABORTED for answers. */
const RETRIED: Readonly<Record<Provider, readonly Failure[]>> = {
  datastore: ['timed-out', 'lost'],
  'azure-tables': ['throttled', 'timed-out', 'lost'],
};

interface SdkCall<T> extends Omit<ModelRequest, 'timeoutMs'> {
  readonly effect: () => T;
  readonly describe?: Describe<T>;
}

/** One request, and the SDK's retries. Rejects with a ServiceFailure when they are used up. */
export function sendBySdk<T>(service: ModelledService, call: SdkCall<T>, attempt = 0): Promise<T> {
  const { effect, describe, ...asked } = call;
  const { parameters, scheduler } = service;
  const request = { ...asked, timeoutMs: parameters.get('sdk.timeoutMs') };
  // 10,000 may be under way and nearly all succeed: a handler is less than a waiting function.
  return service.send(request, effect, describe).catch(async (error: unknown) => {
    if (!isRepeated(service, error, asked, attempt)) throw error;
    await scheduler.after(pauseMs(service, attempt));
    return sendBySdk(service, call, attempt + 1);
  });
}

function isRepeated(
  { parameters }: ModelledService,
  error: unknown,
  { accesses }: Pick<ModelRequest, 'accesses'>,
  attempt: number,
): boolean {
  if (!(error instanceof ServiceFailure) || !RETRIED[parameters.data.provider].includes(error.code)) return false;
  return attempt < parameters.get(accesses[0]?.kind === 'read' ? 'sdk.readRetriesMax' : 'sdk.writeRetriesMax');
}

/** Grows with each attempt; half of it is left to chance. */
function pauseMs({ parameters, draws }: ModelledService, attempt: number): number {
  const grownMs = parameters.get('sdk.retryBaseMs') * power(parameters.get('sdk.retryFactor'), attempt);
  const delayMs = Math.min(parameters.get('sdk.retryDelayMaxMs'), grownMs);
  return delayMs / 2 + (draws.uniform() * delayMs) / 2;
}

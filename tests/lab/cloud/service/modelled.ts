// A modelled service for tests: the calm provider, with a test's overrides.
import { calmProvider } from '../data/calm.ts';
import { type Level, type ProviderData, ProviderParameters } from '../../../../shared/lab/cloud/data/parameters.ts';
import type { Access, ModelRequest } from '../../../../shared/lab/cloud/service/request.ts';
import { ModelledService } from '../../../../shared/lab/cloud/service/service.ts';
import { PlainTable, plainState } from '../../../../shared/lab/cloud/service/plain.ts';
import { Scheduler } from '../../../../shared/lab/kit/scheduler.ts';

type Overrides = Readonly<Record<string, number | Level>>;

export function stillService(provider: ProviderData['provider'], overrides?: Overrides): ModelledService {
  return serviceOf(calmProvider(provider), overrides);
}

export function serviceOf(data: ProviderData, overrides: Overrides = {}, seed = 1): ModelledService {
  return new ModelledService(new Scheduler(seed), new ProviderParameters(data, overrides), seed);
}

/** Lets virtual time pass until the work ends. */
export async function inTime<T>({ scheduler }: ModelledService, work: Promise<T>): Promise<T> {
  await scheduler.run(work, Infinity);
  return work;
}

/** The result of the effect, once the request is answered. */
export function answered<T>(service: ModelledService, asked: ModelRequest, effect: () => T): Promise<T> {
  return inTime(service, service.send(asked, effect));
}

/** A table that holds every record. */
export function plainOf(service: ModelledService): PlainTable {
  const state = plainState(() => 500);
  return new PlainTable(service, state);
}

export function write(id: string, bytes = 500, partition = 'p'): Access {
  return { id, partition, kind: 'write', bytes };
}

export function read(id: string, partition = 'p'): Access {
  return { id, partition, kind: 'read', bytes: 0 };
}

export function request(kind: ModelRequest['kind'], ...accesses: Access[]): ModelRequest {
  return { kind, accesses, timeoutMs: 1e12 };
}

/** Sends `next()` evenly, `perSecond` for `seconds`. Resolves once all have settled. */
export async function offer(
  service: ModelledService,
  { perSecond, seconds }: { perSecond: number; seconds: number },
  next: (number: number) => ModelRequest,
): Promise<{ served: number; failed: number; lastMs: number }> {
  const { scheduler } = service;
  const total = { served: 0, failed: 0, lastMs: 0 };
  const startMs = scheduler.nowMs;
  const sent = Array.from({ length: perSecond * seconds }, async (_, number) => {
    await scheduler.after(startMs + (number * 1_000) / perSecond - scheduler.nowMs);
    try {
      await service.send(next(number), () => undefined);
      total.served += 1;
      total.lastMs = scheduler.nowMs;
    } catch {
      total.failed += 1;
    }
  });
  await scheduler.run(Promise.all(sent), Infinity);
  return total;
}

/** Modifies the record until no other writer interferes. Gives the number of conflicts. */
export async function modifyAtLast(table: PlainTable, key: string, bytes: number): Promise<number> {
  for (let conflicts = 0; ; conflicts += 1) if ((await table.modify(key, bytes)) === true) return conflicts;
}

// Tries what the credentials may do, by one request of each kind.
import {
  CALL,
  freshPrefix,
  insert,
  part,
  patch,
  readOne,
  removeOne,
  replace,
  writeOne,
} from '../../../shared/drivers/conformance/check-calls.ts';
import { reasonOf } from '../../../shared/drivers/conformance/run.ts';
import type { Driver, EntityVersion } from '../../../shared/store/contract/driver.ts';

/** Kinds of requests; on Azure `list` comes first, as it also creates the table. */
export type AccessKind = 'list' | 'insert' | 'read' | 'patch' | 'replace' | 'remove';

export interface Refusal {
  readonly kind: AccessKind;
  readonly why: string;
}

/** The requests that were refused or failed; the credentials allow all others. */
export async function refusedTo(driver: Driver): Promise<Refusal[]> {
  const id = freshPrefix();
  const refusals: Refusal[] = [];
  let version = '' as EntityVersion;
  const trial = async (kind: AccessKind, ask: () => Promise<unknown>): Promise<void> => {
    try {
      const outcome = (await ask()) as { readonly kind?: string; readonly version?: EntityVersion } | undefined;
      if (outcome?.kind === 'refused' || outcome?.kind === 'unknown') refusals.push({ kind, why: reasonOf(outcome) });
      else version = outcome?.version ?? version;
    } catch (error) {
      refusals.push({ kind, why: reasonOf(error) });
    }
  };
  await trial('list', () => driver.list(id, undefined, 1, CALL));
  await trial('insert', () => writeOne(driver, insert(id, [part('h', 'x')])));
  await trial('read', () => readOne(driver, id));
  // Without an entity the others would be refused for their condition.
  if (version === '') return refusals;
  await trial('patch', () => writeOne(driver, patch(id, version, [part('h', 'y', 1)])));
  await trial('replace', () => writeOne(driver, replace(id, version, [part('h', 'z', 1)])));
  await trial('remove', () => removeOne(driver, { id, version }));
  return refusals;
}

// Computes the app keys that a step of `serverless keys` leaves. The deployment's own keys have no
// name, and those of callers have one. Newer keys come first.
import { keyText } from '../../../functions/http/key-text.ts';
import type { KeyRole } from '../../cli/endpoints.ts';
import { DeployError } from '../context/deploy-settings.ts';
import { ROLES } from './app-keys.ts';

/** A caller, as its key's text begins: a name, and its limits in brackets. */
export interface KeyOwner {
  readonly role: KeyRole;
  readonly text: string;
  readonly name: string;
}

export type KeyStep = 'add' | 'retire';

/** Throws a DeployError that says what is expected. */
export function keyOwner(text: string, role: string | undefined): KeyOwner {
  const name = keyText(`${text}=${'x'.repeat(32)}`)?.name;
  if (name === undefined)
    throw new DeployError('--for takes NAME, or NAME(tables=orders-*;until=2027-01-31) with one limit or both');
  const found = ROLES.find((one) => one === role);
  if (found === undefined) throw new DeployError(`--for needs --role, one of ${ROLES.join(', ')}`);
  return { role: found, text, name };
}

/** How many keys of this owner there are; without an owner, how many of the deployment's own. */
export function countOf(texts: readonly string[], owner?: KeyOwner): number {
  return texts.filter((text) => isOf(text, owner)).length;
}

/** False for a text that is no key. */
export function isOf(text: string, owner: KeyOwner | undefined): boolean {
  const found = keyText(text);
  return found !== undefined && found.name === owner?.name;
}

/** `add` puts a new key of the owner first, and `retire` removes its oldest. */
export function nextKeys(texts: readonly string[], step: KeyStep, fresh: string, owner?: KeyOwner): readonly string[] {
  const [theirs, others] = [texts.filter((text) => isOf(text, owner)), texts.filter((text) => !isOf(text, owner))];
  const added = owner === undefined ? fresh : `${owner.text}=${fresh}`;
  if (step === 'add') return [...(theirs.length > 1 ? theirs : [added, ...theirs]), ...others];
  // The deployment always keeps a key of its own; a caller may leave.
  return [...theirs.slice(0, owner === undefined ? 1 : -1), ...others];
}

// The network that emulators were measured behind, in words.
import { PROVIDER_SHORT_NAMES } from './names.ts';
import type { Circumstances } from './schema.ts';

/** One line for a comparison on emulators alone. */
export function networkWords(network: Circumstances['network']): string {
  return `${emulatorsWords(network)}; no cloud was asked`;
}

/** Null: they answered at once. */
export function emulatorsWords(network: Circumstances['network']): string {
  if (network === null) return 'emulators without a network';
  const each = network.roundTrips.map(({ provider, readMs, commitMs }) => {
    return `${readMs} ms a read and ${commitMs} ms a commit (${PROVIDER_SHORT_NAMES[provider]})`;
  });
  return `emulators behind a network of ${each.join(', ')}`;
}

// The machine and the versions that a comparison ran on.
import os from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Circumstances } from '../../shared/lab/report/report-schema.ts';
import { commitOf, versionsOf } from '../package/build-facts.ts';

/** Packages whose versions may move the figures. */
const PACKAGES = [
  '@google-cloud/datastore',
  '@azure/data-tables',
  'azurite',
  '@google-cloud/functions-framework',
  '@azure/functions',
  'msgpackr',
];

export function machine(): Circumstances['coordinator'] {
  const [first] = os.cpus();
  return {
    cpu: first?.model.trim() ?? 'unknown',
    cores: os.availableParallelism(),
    memoryBytes: os.totalmem(),
    platform: `${os.type()} ${os.release()} ${os.arch()}`,
    node: process.versions.node,
  };
}

/** What is known of the sources that the module `entryUrl` runs from; a package has no commit. */
export async function sourceFacts(entryUrl: string): Promise<Pick<Circumstances, 'versions' | 'commit'>> {
  if (!entryUrl.endsWith('.ts')) return { versions: {}, commit: null };
  const root = fileURLToPath(new URL('../../', import.meta.url));
  return { versions: await versionsOf(root, PACKAGES), commit: await commitOf(root) };
}

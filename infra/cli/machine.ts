// The machine and the versions that a comparison ran on.
import { readFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Circumstances } from '../../shared/lab/report/schema.ts';

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

/** Versions of this package, of the installed ones above, and of others that the caller names. */
export async function versions(root: string, others: readonly string[] = []): Promise<Record<string, string>> {
  const entries = await Promise.all(
    ['', ...PACKAGES, ...others].map(async (name) => {
      const folder = name === '' ? root : path.join(root, 'node_modules', name);
      const { name: own, version } = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8')) as {
        name: string;
        version: string;
      };
      return [own, version] as const;
    }),
  );
  return Object.fromEntries(entries);
}

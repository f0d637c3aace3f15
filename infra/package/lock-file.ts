// Cuts the part of some dependencies out of the lock file, with the versions and places they have.
import { readFile } from 'node:fs/promises';
import path from 'node:path';

/** package-lock.json, version 3 (https://docs.npmjs.com/cli/configuring-npm/package-lock-json). */
interface LockEntry {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly [member: string]: unknown;
}

type Entries = Record<string, LockEntry>;

/** Members about the entry's place in this project's tree, not in the package's. */
const OF_THIS_TREE = ['dev', 'devOptional', 'peer'];

export interface LockedPackage {
  readonly name: string;
  readonly dependencies: Readonly<Record<string, string>>;
}

/** Throws, with its name, if a dependency of `locked` is not in `root`'s lock file. */
export async function lockFileOf(root: string, locked: LockedPackage): Promise<object> {
  const { packages } = JSON.parse(await readFile(path.join(root, 'package-lock.json'), 'utf8')) as {
    packages: Entries;
  };
  const found: Entries = {};
  const waiting = Object.keys(locked.dependencies).map((name) => placeOf(packages, '', name));
  for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
    if (found[place] !== undefined) continue;
    const entry = packages[place]!;
    found[place] = Object.fromEntries(Object.entries(entry).filter(([member]) => !OF_THIS_TREE.includes(member)));
    const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = entry;
    for (const name of Object.keys(dependencies)) waiting.push(placeOf(packages, place, name));
    // Optional dependencies count if installed.
    for (const name of Object.keys({ ...optionalDependencies, ...peerDependencies })) {
      const optional = nearest(packages, place, name);
      if (optional !== undefined) waiting.push(optional);
    }
  }
  const sorted = Object.fromEntries(Object.entries(found).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return { name: locked.name, lockfileVersion: 3, requires: true, packages: { '': locked, ...sorted } };
}

function placeOf(packages: Entries, from: string, name: string): string {
  const place = nearest(packages, from, name);
  if (place === undefined) throw new Error(`package-lock.json knows no ${name} for ${from}: run npm install`);
  return place;
}

/** Finds `name` as Node does: in the node_modules of `from`, then in those above. */
function nearest(packages: Entries, from: string, name: string): string | undefined {
  const place = `${from === '' ? '' : `${from}/`}node_modules/${name}`;
  if (packages[place] !== undefined) return place;
  if (from === '') return undefined;
  return nearest(packages, from.slice(0, Math.max(from.lastIndexOf('/node_modules/'), 0)), name);
}

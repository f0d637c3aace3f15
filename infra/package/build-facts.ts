// A package's making: the commit, and the versions that affect a comparison's figures.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

export interface BuildFacts {
  /** Ends in `+` where files differ from the commit; null outside a repository. */
  readonly commit: string | null;
  readonly versions: Readonly<Record<string, string>>;
}

/** The packages whose versions affect a comparison, by cloud. */
const PACKAGES = {
  gcp: ['@google-cloud/datastore', 'google-gax', '@grpc/grpc-js', 'msgpackr'],
  azure: ['@azure/data-tables', '@azure/core-rest-pipeline', 'msgpackr'],
} as const;

const GIT_TIMEOUT_MS = 10_000;

/** `root`: the project's folder. */
export async function buildFacts(root: string, cloud: keyof typeof PACKAGES): Promise<BuildFacts> {
  return { commit: await commitOf(root), versions: await versionsOf(root, PACKAGES[cloud]) };
}

/** Versions of the library in `root`, the project's folder, and of these installed packages. */
export async function versionsOf(root: string, packages: readonly string[]): Promise<Record<string, string>> {
  const folders = [path.join(root, 'shared'), ...packages.map((name) => path.join(root, 'node_modules', name))];
  const versions = folders.map(async (folder) => {
    const own: unknown = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8'));
    const { name, version } = own as { name: string; version: string };
    return [name, version] as const;
  });
  return Object.fromEntries(await Promise.all(versions));
}

/** Null where there is no git, or no repository. */
export async function commitOf(root: string): Promise<string | null> {
  const git = async (...args: string[]): Promise<string> =>
    (await promisify(execFile)('git', args, { cwd: root, timeout: GIT_TIMEOUT_MS })).stdout.trim();
  try {
    const [commit, changes] = [
      await git('rev-parse', 'HEAD'),
      await git('status', '--porcelain', '--untracked-files=no'),
    ];
    return changes === '' ? commit : `${commit}+`;
  } catch {
    return null;
  }
}

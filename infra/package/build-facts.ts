// What a package was made of: the commit, and the versions that affect a comparison's figures.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const GIT_TIMEOUT_MS = 10_000;

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

/** Ends in `+` if files differ from the commit. Null without git or a repository. */
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

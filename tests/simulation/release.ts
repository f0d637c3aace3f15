// Another release of the engine, so that processes of it can work beside processes of this one: its sources in a folder of their own, loaded from
// there like any others.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { memoryDriver } from '../../shared/drivers/memory.ts';
import type { openStore } from '../../shared/store/index.ts';
import { inNewFolder } from './new-folder.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const ENGINE = 'shared/store';
/** What loading it takes: its sources, and the word that they are modules. */
const NEEDED = ['package.json', ENGINE];
const ARCHIVE_BYTES_MAX = 64 * 1024 * 1024;

export interface Release {
  readonly openStore: typeof openStore;
  /**
   * Whether it reads on where a leaf is retired or merged; if not, it stops there with `corrupt`, or goes in a circle where an entry names a leaf to
   * the left of its separator. A circle within its memory alone ends neither its process nor the run: then the run is to be ended by hand.
   */
  readonly knowsMerging: boolean;
  /** Whether a root that it creates names the incarnations dropped before; if not, what comes back of those is told of, and stays. */
  readonly namesDrops: boolean;
}

/** Whether the clone has the commit: a shallow one has few. */
export function hasCommit(ref: string): boolean {
  try {
    execFileSync('git', ['cat-file', '-e', `${ref}^{commit}`], { cwd: ROOT, stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/**
 * Puts the engine as it was at a commit (undefined: as it lies in the working copy) into a folder, does some work, and removes the folder.
 * Throws if the clone has no such commit.
 */
export function withRelease<T>(ref: string | undefined, work: (folder: string) => Promise<T>): Promise<T> {
  return inNewFolder('stowage-release-', async (folder) => {
    if (ref === undefined)
      for (const name of NEEDED) cpSync(path.join(ROOT, name), path.join(folder, name), { recursive: true });
    else extract(ref, folder);
    // Packages are those of this release: Node takes no types out of sources that lie below a folder of packages.
    symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
    shareErrors(folder);
    return await work(folder);
  });
}

function extract(ref: string, folder: string): void {
  const tar = execFileSync('git', ['archive', '--format=tar', ref, ...NEEDED], {
    cwd: ROOT,
    maxBuffer: ARCHIVE_BYTES_MAX,
  });
  execFileSync('tar', ['-x', '-C', folder], { input: tar });
}

/** One class of errors for both: the driver's are caught in either, and callers ask of which class an error is. */
function shareErrors(folder: string): void {
  const errors = `${ENGINE}/contract/errors.ts`;
  if (!existsSync(path.join(folder, errors))) throw new Error(`the other release has no ${errors}`);
  writeFileSync(
    path.join(folder, errors),
    `export * from ${JSON.stringify(pathToFileURL(path.join(ROOT, errors)))};\n`,
  );
}

/** Loads what `withRelease` put there. */
export async function loadRelease(folder: string): Promise<Release> {
  const index = pathToFileURL(path.join(folder, ENGINE, 'index.ts')).href;
  const loaded = (await import(index)) as { openStore: typeof openStore };
  const header = readFileSync(path.join(folder, ENGINE, 'format/header.ts'), 'utf8');
  // What it loads late is loaded now, in real time: a run waits for nothing but its own clock.
  const store = loaded.openStore({ driver: memoryDriver() });
  await store.table('t');
  await store.close();
  const namesDrops = existsSync(path.join(folder, ENGINE, 'admin/dropped.ts'));
  return { openStore: loaded.openStore, knowsMerging: header.includes(`'retired'`), namesDrops };
}

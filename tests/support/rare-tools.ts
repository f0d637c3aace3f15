// Packages that few tests need, which `npm ci` of the project leaves out: tests/tools names them.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** Their node_modules; undefined if they could not be installed. */
    tools: string | undefined;
  }
}

const FOLDER = fileURLToPath(new URL('../tools/', import.meta.url));
const MODULES = path.join(FOLDER, 'node_modules');
const INSTALL_TIMEOUT_MS = 300_000;

/** A global setup: installs them, unless they are there. Says so where no registry is reached. */
export default async function setup({ provide }: TestProject): Promise<void> {
  provide('tools', (await isInstalled()) || (await install()) ? MODULES : undefined);
}

async function isInstalled(): Promise<boolean> {
  const [wanted, installed] = await Promise.all(
    [path.join(FOLDER, 'package-lock.json'), path.join(MODULES, '.package-lock.json')].map(packagesIn),
  );
  return wanted !== undefined && JSON.stringify(wanted) === JSON.stringify(installed);
}

/** The packages of a lock file, without the project itself; undefined if there is no such file. */
async function packagesIn(file: string): Promise<object | undefined> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const { packages } = JSON.parse(text) as { packages: Record<string, { version: string }> };
  return Object.entries(packages).flatMap(([place, { version }]) => (place === '' ? [] : [`${place}@${version}`]));
}

async function install(): Promise<boolean> {
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
  try {
    await promisify(execFile)('npm', args, { cwd: FOLDER, timeout: INSTALL_TIMEOUT_MS });
    return true;
  } catch (error) {
    console.warn(`SKIPPED: tests with the packages of tests/tools, which npm did not bring: ${String(error)}`);
    return false;
  }
}

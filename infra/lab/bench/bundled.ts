// Compares the engine's speed from source and bundled as for a deployment, in alternating processes: a bundle may lose a package's native
// addon, and lays out the code differently.
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { median } from '../../../shared/lab/kit/median.ts';
import { bundleFunction, ROOT } from '../../package/bundle.ts';
import { unzipTo, zip } from '../../package/zip.ts';
import type { Statement } from './text.ts';

const WORK = 'infra/lab/bench/engine-work.ts';
const TIMEOUT_MS = 60_000;

export async function bundleStatement(rounds: number, signal: AbortSignal): Promise<Statement> {
  const folder = await mkdtemp(path.join(tmpdir(), 'stowage-bundle-'));
  try {
    const bundle = await bundledWork(folder);
    const fromSource: number[] = [];
    const bundled: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      fromSource.push(await rateOf(path.join(ROOT, WORK), signal));
      bundled.push(await rateOf(bundle, signal));
    }
    const rates = [median(bundled), median(fromSource)] as const;
    const [own, other] = rates.map((rate) => rate.toLocaleString('en-US'));
    return {
      what: 'Bundled as deployed, against from source: records a second written and read in memory',
      value: `${own} against ${other}, ratio ${(rates[0] / rates[1]).toFixed(2)}`,
    };
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The path of the work as one file. */
async function bundledWork(folder: string): Promise<string> {
  const { files } = await bundleFunction('gcp', { name: 'work', handler: WORK, timeoutSeconds: 60 });
  await unzipTo(zip(files), folder);
  return path.join(folder, 'lib/main.js');
}

async function rateOf(file: string, signal: AbortSignal): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, [file], { signal, timeout: TIMEOUT_MS });
  return Number(stdout);
}

#!/usr/bin/env node
// The package's command line, for somebody who calls deployed functions and did not deploy them.
import { askTool, compareDeployed } from './compare.ts';
import { choice, command, runCommand, UsageError } from './options.ts';

const STOWAGE = command({
  name: 'stowage',
  operands: ['compare'],
  about: `Compares three ways to store small records, inside the functions that a file names (endpoints-<stage>.json, which a
deployment writes). Needs gcloud and az, logged in as somebody who may call the functions and read the app keys.`,
  options: {
    endpoints: { value: 'FILE', help: 'the file; it must be given' },
    cloud: { value: 'gcp|azure|both', default: 'both', help: "which of the file's clouds take part" },
    full: { help: 'every number of callers from 1 to 128, about 20 minutes a cloud' },
    out: { value: 'DIR', default: 'report', help: 'where compare.json and compare.html go' },
  },
  examples: ['stowage compare --endpoints FILE --cloud gcp'],
});

await runCommand(STOWAGE, process.argv.slice(2), async ({ values, operands }) => {
  if (operands[0] !== 'compare') throw new UsageError(`there is no command ${operands[0]}; there is compare`);
  if (values.endpoints === undefined) throw new UsageError('--endpoints is missing: the file that a deployment wrote');
  const cloud = choice('--cloud', values.cloud, ['gcp', 'azure', 'both']);
  return await compare(values.endpoints, cloud, values.full, values.out);
});

/** 0 done, 1 failed. */
async function compare(endpointsFile: string, cloud: string, isFull: boolean, outDir: string): Promise<number> {
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());
  const clouds = (['gcp', 'azure'] as const).filter((one) => cloud === 'both' || cloud === one);
  try {
    const isWhole = await compareDeployed({
      endpointsFile,
      clouds,
      isFull,
      outDir,
      versions: {},
      ask: askTool,
      log: console.log,
      signal: interrupted.signal,
    });
    return isWhole ? 0 : 1;
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return 1;
  }
}

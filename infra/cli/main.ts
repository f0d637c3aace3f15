#!/usr/bin/env node
// The package's command line: the comparison, for somebody who calls deployed functions and did not deploy them, and what a table costs.
import { COST, costJson, costQuestionOf, costText } from './cost.ts';
import { choice, command, runCommand, UsageError } from './options.ts';

const STOWAGE = command({
  name: 'stowage',
  operands: ['compare|cost'],
  about: `Has two commands; each says with --help what it takes.
  compare  compares three ways to store small records, inside deployed functions
  cost     estimates a table's monthly bill on both clouds, without running anything`,
  options: {},
  examples: ['stowage compare --help', COST.examples[0]!, 'stowage compare --endpoints FILE --cloud gcp'],
});

const COMPARE = command({
  name: 'stowage compare',
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

const [name, ...args] = process.argv.slice(2);
if (name === 'compare') {
  await runCommand(COMPARE, args, async ({ values }) => {
    if (values.endpoints === undefined)
      throw new UsageError('--endpoints is missing: the file that a deployment wrote; --endpoints FILE');
    const cloud = choice('--cloud', values.cloud, ['gcp', 'azure', 'both']);
    return await compare(values.endpoints, cloud, values.full, values.out);
  });
} else if (name === 'cost') {
  await runCommand(COST, args, async (given) => {
    const question = costQuestionOf(given);
    console.log(given.values.json ? JSON.stringify(costJson(question), null, 2) : costText(question));
  });
} else {
  await runCommand(STOWAGE, process.argv.slice(2), async ({ operands }) => {
    throw new UsageError(`there is no command ${operands[0]}; there are compare and cost`);
  });
}

/** 0 done, 1 failed. */
async function compare(endpointsFile: string, cloud: string, isFull: boolean, outDir: string): Promise<number> {
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());
  // Its charts take a while to load, for which the other command need not wait.
  const { askTool, compareDeployed } = await import('./compare.ts');
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

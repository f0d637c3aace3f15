#!/usr/bin/env node
// The command line of the package: what somebody needs who calls deployed functions and did not deploy them.
import { parseArgs } from 'node:util';
import { askTool, compareDeployed } from './cli-compare.ts';

const HELP = `stowage compare --endpoints FILE [--cloud gcp|azure|both] [--full] [--out DIR]

  Compares three ways to store small records, inside the functions that FILE names (endpoints-<stage>.json, which a
  deployment writes). Needs gcloud and az, logged in as somebody who may call the functions and read the app keys.

  --cloud   which of the file's clouds take part; default both
  --full    every number of callers from 1 to 128, about 20 minutes a cloud
  --out     where compare.json and compare.html go; default report`;

process.exitCode = await main(process.argv.slice(2));

/** 0 done, 1 failed, 2 wrong usage. */
async function main(args: readonly string[]): Promise<number> {
  const options = optionsOf(args);
  if (typeof options === 'string') {
    console.error(options);
    return 2;
  }
  const [command] = options.positionals;
  if (options.values.help || command === undefined) {
    console.log(HELP);
    return command === undefined && !options.values.help ? 2 : 0;
  }
  if (command !== 'compare' || options.values.endpoints === undefined || options.values.cloud === undefined) {
    console.error(HELP);
    return 2;
  }
  return await compare(options.values.endpoints, options.values.cloud, options.values.full, options.values.out);
}

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

/** A text says what is wrong. */
function optionsOf(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        endpoints: { type: 'string' },
        cloud: { type: 'string', default: 'both' },
        full: { type: 'boolean', default: false },
        out: { type: 'string', default: 'report' },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    return `${error instanceof Error ? error.message : String(error)}\n\n${HELP}`;
  }
}

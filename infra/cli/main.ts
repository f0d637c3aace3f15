#!/usr/bin/env node
// The package's command line: the comparison, for somebody who calls deployed functions and did not deploy them, and what a table costs.
import type { CompareDeployedOptions } from './compare.ts';
import { COST, costJson, costQuestionOf, costText } from './cost.ts';
import { EXIT, EXIT_HELP } from './exit.ts';
import { makeFolder } from './folder.ts';
import { interrupted } from './interrupt.ts';
import { choice, command, type CommandLine, runCommand, UsageError } from './options.ts';
import {
  baselineFrom,
  commandLine,
  commandOf,
  PLAN_HELP,
  PLAN_OPERAND,
  PLAN_OPTIONS,
  planFrom,
  REPORT_OPTIONS,
} from './plan-options.ts';
import { partFrom, startFrom } from './part.ts';

const STOWAGE = command({
  name: 'stowage',
  operands: ['compare|merge|cost'],
  about: `Has three commands; each says with --help what it takes.
  compare  compares three ways to store small records, inside deployed functions
  merge    makes one report of the parts that several machines drove of a comparison
  cost     estimates a table's monthly bill on both clouds, without running anything`,
  options: {},
  examples: ['stowage compare --help', COST.examples[0]!, 'stowage compare --endpoints FILE --cloud gcp'],
});

const COMPARE = command({
  name: 'stowage compare',
  operands: [PLAN_OPERAND],
  about: `Compares three ways to store small records, inside the functions that a file names (endpoints-<stage>.json, which a
deployment writes). Needs gcloud and az, logged in as somebody who may call the functions and read the app keys.
${PLAN_HELP}
${EXIT_HELP}`,
  options: {
    endpoints: { value: 'FILE', help: 'the file; it must be given' },
    cloud: { value: 'gcp|azure|both', default: 'both', help: "which of the file's clouds take part" },
    part: {
      value: 'I/N',
      help: 'drives one of N parts of the comparison on one cloud, and leaves a file for stowage merge',
    },
    start: {
      value: 'TIME',
      help: 'with --part: when the first run begins, the same for all parts, like 2026-11-22T12:00:00Z',
    },
    ...PLAN_OPTIONS,
  },
  examples: [
    'stowage compare --endpoints endpoints-dev.json',
    'stowage compare full --endpoints endpoints-dev.json --cloud gcp',
    'stowage compare --endpoints endpoints-dev.json --cloud gcp --part 2/4 --start 2026-11-22T12:00:00Z',
    "stowage compare --endpoints endpoints-dev.json --workloads ycsb-a --callers 1,8,64 --against old.json --fail-if 'throughput<0.9'",
  ],
});

const MERGE = command({
  name: 'stowage merge',
  operands: ['part-file...'],
  about: `Makes one report of the files that the parts of a comparison left: histograms are merged, rates added up. What is missing
or cannot be read is told in the report.
${EXIT_HELP}`,
  options: REPORT_OPTIONS,
  examples: ['stowage merge part-*.json', "stowage merge part-*.json --against old.json --fail-if 'throughput<0.9'"],
});

const [name, ...args] = process.argv.slice(2);
if (name === 'compare') {
  await runCommand(COMPARE, args, compare);
} else if (name === 'merge') {
  await runCommand(MERGE, args, merge);
} else if (name === 'cost') {
  await runCommand(COST, args, async (given) => {
    const question = costQuestionOf(given);
    console.log(given.values.json ? JSON.stringify(costJson(question), null, 2) : costText(question));
  });
} else {
  await runCommand(STOWAGE, process.argv.slice(2), async ({ operands }) => {
    throw new UsageError(`there is no command ${operands[0]}; there are compare, merge and cost`);
  });
}

async function compare({ operands, values }: CommandLine<typeof COMPARE.options>): Promise<number> {
  if (values.endpoints === undefined)
    throw new UsageError('--endpoints is missing: the file that a deployment wrote; --endpoints FILE');
  const cloud = choice('--cloud', values.cloud, ['gcp', 'azure', 'both']);
  const plan = await planFrom(operands[0], values);
  const part = partOf(values);
  const baseline = await baselineFrom(values);
  await makeFolder('--out', values.out);
  const signal = interrupted(console.error);
  // Its charts take a while to load, for which the other command need not wait.
  const { askTool, compareDeployed } = await import('./compare.ts');
  try {
    return await compareDeployed({
      endpointsFile: values.endpoints,
      clouds: (['gcp', 'azure'] as const).filter((one) => cloud === 'both' || cloud === one),
      plan,
      part,
      baseline,
      outDir: values.out,
      command: commandOf(COMPARE.name, args, plan),
      versions: {},
      commit: null,
      ask: askTool,
      log: console.log,
      signal,
    });
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return EXIT.failed;
  }
}

/** Undefined where nobody asked for a part. Throws a UsageError. */
function partOf({
  part,
  start,
  cloud,
  ...values
}: CommandLine<typeof COMPARE.options>['values']): CompareDeployedOptions['part'] {
  if (part === undefined && start === undefined) return undefined;
  if (part === undefined) throw new UsageError('--start goes with --part');
  if (cloud === 'both') throw new UsageError('--part drives one cloud: --cloud gcp or --cloud azure');
  if (values.instances !== undefined)
    throw new UsageError('--instances is what --part says: as many as there are parts');
  if (values.hold !== undefined)
    throw new UsageError('--part cannot search: the next rate follows from all answers, and parts do not talk');
  if (values.against !== undefined) throw new UsageError('--part leaves no report: give --against to stowage merge');
  return { part: partFrom(part), startMs: startFrom(start) };
}

async function merge({ operands, values }: CommandLine<typeof MERGE.options>): Promise<number> {
  const baseline = await baselineFrom(values);
  await makeFolder('--out', values.out);
  const { mergeFiles } = await import('./merge.ts');
  try {
    return await mergeFiles({
      files: operands,
      baseline,
      outDir: values.out,
      command: commandLine(MERGE.name, args),
      log: console.log,
    });
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return EXIT.failed;
  }
}

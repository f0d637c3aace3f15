#!/usr/bin/env node
// The package's command line: records and tables, the comparison of deployed functions, bills.
import { readFile } from 'node:fs/promises';
import { COMPLETION, completionOf, SHELLS } from './completion.ts';
import { COST, costJson, costQuestionOf, costText } from './cost.ts';
import { EXIT, EXIT_HELP } from './exit.ts';
import { makeFolder } from './report-folder.ts';
import { interrupted } from './interrupt.ts';
import { choice, command, type CommandLine, runCommand, type RunnableCommand, UsageError } from './command-options.ts';
import { baselineFrom, commandOf, PLAN_HELP, PLAN_OPERAND, PLAN_OPTIONS, planFrom } from './plan-options.ts';
import { sayLines, warn, warnOf } from './print.ts';
import { STORE_COMMANDS } from './store-commands.ts';
import { askTool } from './external-tools.ts';

const STOWAGE = command({
  name: 'stowage',
  operands: ['COMMAND'],
  about: `Its commands; each says with --help what it takes, and --version prints the version.
  tables   lists the tables of a store
  get, put, delete, touch   one record
  scan     prints records of a table
  count    prints their number
  drop     deletes a table
  explain  says what operations on a table would take
  verify   reads everything that is stored of a table, and says what is wrong
  stats    counts a table's containers, records and bytes
  inspect  shows one container as it is stored
  repair   mends what verify finds, and saves what it takes away
  vacuum   removes what interrupted work left behind, and merges small containers
  export   writes a table into a folder, as NDJSON
  import   puts such records into a table
  copy     copies a table into another store, on either cloud
  adopt    puts plain entities, one per record, into a table; release writes them again
  compare-with  compares a table with plain entities
  doctor   tries an account: rights, the drivers' promises, latencies
  compare  compares three ways to store small records, inside deployed functions
  cost     estimates a table's monthly bill on both clouds, without running anything
  completion  prints what completes these commands in bash or zsh`,
  options: {},
  examples: ['stowage copy --help', COST.examples[0]!, 'stowage compare --endpoints FILE --cloud gcp'],
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
    ...PLAN_OPTIONS,
  },
  examples: [
    'stowage compare --endpoints endpoints-dev.json',
    'stowage compare full --endpoints endpoints-dev.json --cloud gcp',
    "stowage compare --endpoints endpoints-dev.json --workloads ycsb-a --callers 1,8,64 --against old.json --fail-if 'throughput<0.9x'",
  ],
});

const [name, ...args] = process.argv.slice(2);
const COMMANDS: Readonly<Record<string, RunnableCommand>> = {
  compare: { declared: COMPARE, run: () => runCommand(COMPARE, args, compare) },
  cost: { declared: COST, run: () => runCommand(COST, args, cost) },
  ...STORE_COMMANDS,
  completion: { declared: COMPLETION, run: () => runCommand(COMPLETION, args, complete) },
};

process.stdout.on('error', endWithoutOutput);
if (name === '--version') {
  sayLines(await ownVersion());
} else if (name !== undefined && Object.hasOwn(COMMANDS, name)) {
  await COMMANDS[name]!.run(args);
} else {
  await runCommand(STOWAGE, process.argv.slice(2, 3), async ({ operands }) => {
    throw new UsageError(`there is no command ${operands[0]}; there are ${Object.keys(COMMANDS).join(', ')}`);
  });
}

/** Ends quietly if the reader has gone, as `head` does, else with an error. */
function endWithoutOutput(error: NodeJS.ErrnoException): never {
  if (error.code === 'EPIPE') process.exit(EXIT.readerGone);
  warn(`the output cannot be written: ${error.message}`);
  process.exit(EXIT.failed);
}

/** The library's version, also if this runs from source. */
async function ownVersion(): Promise<string> {
  const beside = import.meta.url.endsWith('.ts') ? '../../shared/package.json' : '../package.json';
  const text = await readFile(new URL(beside, import.meta.url), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}

async function cost(given: CommandLine<typeof COST.options>): Promise<void> {
  const question = costQuestionOf(given);
  sayLines(given.values.json ? JSON.stringify(costJson(question), null, 2) : costText(question));
}

async function complete({ operands: [shell = ''] }: CommandLine<object>): Promise<void> {
  const declared = Object.entries(COMMANDS).map(([name, one]) => [name, one.declared] as const);
  sayLines(completionOf(choice('the shell', shell, SHELLS), new Map(declared)));
}

async function compare({ operands, values }: CommandLine<typeof COMPARE.options>): Promise<number> {
  if (values.endpoints === undefined)
    throw new UsageError('--endpoints is missing: the file that a deployment wrote; --endpoints FILE');
  const cloud = choice('--cloud', values.cloud, ['gcp', 'azure', 'both']);
  const plan = await planFrom(operands[0], values);
  const baseline = await baselineFrom(values);
  await makeFolder('--out', values.out);
  const signal = interrupted(warn);
  // Loaded here, because other commands need not wait for it.
  const { compareDeployed } = await import('./compare-deployed.ts');
  const { sourceFacts } = await import('./this-machine.ts');
  try {
    return await compareDeployed({
      endpointsFile: values.endpoints,
      clouds: (['gcp', 'azure'] as const).filter((one) => cloud === 'both' || cloud === one),
      plan,
      baseline,
      outDir: values.out,
      circumstances: { command: commandOf(COMPARE.name, args, plan), ...(await sourceFacts(import.meta.url)) },
      ask: askTool,
      log: sayLines,
      signal,
    });
  } catch (error) {
    warnOf(error);
    return EXIT.failed;
  }
}

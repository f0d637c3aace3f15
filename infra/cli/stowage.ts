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

/** Each command with the first words of what it says about itself. */
const LIST = Object.entries(COMMANDS).map(
  ([name, { declared }]) => `  ${name.padEnd(12)}  ${/^[^.,:;]*/.exec(declared.about)![0]}`,
);

const STOWAGE = command({
  name: 'stowage',
  operands: ['COMMAND'],
  about: `Its commands; each says with --help what it takes, and --version prints the version.\n${LIST.join('\n')}`,
  options: {},
  examples: ['stowage copy --help', COST.examples[0]!, 'stowage compare --endpoints FILE --cloud gcp'],
});

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
  const { sourceFacts } = await import('./comparison.ts');
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

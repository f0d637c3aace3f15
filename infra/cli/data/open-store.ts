// A command's store, from its address to its end.
import type { Store } from '../../../shared/store/index.ts';
import { EXIT } from '../exit.ts';
import { exitCodeOf } from '../interrupt.ts';
import {
  type Command,
  type CommandLine,
  type Option,
  runCommand,
  type RunnableCommand,
  UsageError,
} from '../command-options.ts';
import { warn } from '../print.ts';
import { askTool } from '../external-tools.ts';
import { ADDRESS_HELP, storeAt } from './address.ts';

/** The store of commands that name none. */
const STORE_VARIABLE = 'STOWAGE_STORE';

export const FROM = { value: 'STORE', help: `where the table is; default that in ${STORE_VARIABLE}` };
export const TO = { value: 'STORE', help: `where the records go; default that in ${STORE_VARIABLE}` };

/** As `storeAt`; throws a UsageError also if no address is given. */
export function opened(option: string, address: unknown, createTable = true): Store {
  if (typeof address !== 'string')
    throw new UsageError(`${option} is missing: gcp://PROJECT/DATABASE or azure://ACCOUNT/TABLE`);
  return storeAt(option, address, { ask: askTool, env: process.env, createTable });
}

type Options = Readonly<Record<string, Option>>;

interface StoreCommand<Declared extends Options> extends Omit<Command<Declared>, 'examples'> {
  /** Default: one with the table users. */
  readonly examples?: readonly string[];
  /** Prints after an interruption that the same command goes on. */
  readonly goesOn?: true;
  readonly run: (store: Store, given: CommandLine<Declared>, signal: AbortSignal) => Promise<void>;
}

/**
 * A command on the store at its `--from`, or `--to` if it has no `--from`; it closes the store.
 * Takes TABLE, unless it names other operands.
 */
export function storeCommand<const Declared extends Options>(command: StoreCommand<Declared>): RunnableCommand {
  const { about, goesOn, run, ...more } = command;
  const examples = [`${command.name} users --from gcp://my-project/stowage-prod`];
  const declared = { operands: ['TABLE'], examples, ...more, about: `${about}\n${ADDRESS_HELP}` };
  const name = 'from' in command.options ? 'from' : 'to';
  const runLine = (args: readonly string[]): Promise<void> =>
    runCommand(declared, args, async (line) => {
      // An empty variable counts as absent.
      const values: Readonly<Record<string, string | boolean | undefined>> = {
        ...line.values,
        [name]: (line.values as Partial<Record<string, string>>)[name] ?? (process.env[STORE_VARIABLE] || undefined),
      };
      const code = await exitCodeOf(async (signal) => {
        // A mistyped name is an error, and makes no table.
        const creates = name === 'to' || values['create'] !== undefined;
        if (values[name] === undefined)
          throw new UsageError(`--${name} is missing: name a STORE there, or in ${STORE_VARIABLE}`);
        await using store = opened(`--${name}`, values[name], creates);
        await run(store, { ...line, values: values as typeof line.values }, signal);
      });
      if (code === EXIT.interrupted && goesOn) warn(`This goes on: ${line.typed}`);
      return code;
    });
  return { declared, run: runLine };
}

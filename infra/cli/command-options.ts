// Reads every command line: options are declared once, with their help, and a wrong command line is
// refused before anything starts.
import { parseArgs } from 'node:util';
import { sayLines, warn, warnOf } from './print.ts';

export interface Option {
  /** Stands for the value in the help, like N; left out for a flag. */
  readonly value?: string;
  /** The value if the option is left out. */
  readonly default?: string;
  readonly help: string;
}

export interface Command<Options extends Readonly<Record<string, Option>>> {
  /** The command as one types it, like `npm run bench --`. */
  readonly name: string;
  /** Names of the arguments that are no options; the last may be optional, like `[plan]`. */
  readonly operands?: readonly string[];
  readonly about: string;
  readonly options: Options;
  readonly examples: readonly string[];
}

type Values<Options> = {
  readonly [Name in keyof Options]: Options[Name] extends { value: string; default: string }
    ? string
    : Options[Name] extends { value: string }
      ? string | undefined
      : boolean;
};

export interface CommandLine<Options> {
  readonly values: Values<Options>;
  /** As many as the command has operands; the last may be missing, as its name says. */
  readonly operands: readonly string[];
  readonly typed: string;
}

/** The command line is wrong; the message says how it should be. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Resolves to the value. An error of `read` becomes a UsageError that begins with the option. */
export async function refusing<Value>(option: string, read: () => Value | Promise<Value>): Promise<Value> {
  try {
    return await read();
  } catch (error) {
    throw new UsageError(`${option}: ${(error as Error).message}`, { cause: error });
  }
}

/** Exit code for a wrong command line; 1 is for a command that failed. */
const EXIT_USAGE = 2;

/** A command, and what runs it with the arguments behind its name. */
export interface RunnableCommand {
  readonly declared: Command<Readonly<Record<string, Option>>>;
  readonly run: (args: readonly string[]) => Promise<void>;
}

/** Keeps the options' names and defaults in the type. */
export function command<const Options extends Readonly<Record<string, Option>>>(
  declared: Command<Options>,
): Command<Options> {
  return declared;
}

/** Node.js puts it in place of bytes that are not UTF-8. */
const REPLACED = '\u{fffd}';
const NOT_UTF8 = 'holds U+FFFD, which stands for bytes that are not UTF-8: type it in a UTF-8 terminal';

/** Of an option that is given twice, the last counts. Throws a UsageError. */
export function commandLineOf<Options extends Readonly<Record<string, Option>>>(
  { name, operands = [], options }: Command<Options>,
  args: readonly string[],
): CommandLine<Options> {
  const declared = Object.entries(options).map(([option, { value, default: unset }]) => {
    const type = value === undefined ? ('boolean' as const) : ('string' as const);
    return [option, { type, default: value === undefined ? false : unset }] as const;
  });
  try {
    const unreadable = args.find((arg) => arg.includes(REPLACED));
    if (unreadable !== undefined) throw new UsageError(`${JSON.stringify(unreadable)} ${NOT_UTF8}`);
    const parsed = parseArgs({ args: [...args], options: Object.fromEntries(declared), allowPositionals: true });
    const least = operands.filter((operand) => !operand.startsWith('[')).length;
    if (parsed.positionals.length < least || parsed.positionals.length > operands.length)
      throw new UsageError(`it takes ${operands.join(' ') || 'options alone'}, not "${parsed.positionals.join(' ')}"`);
    const typed = [name, ...args.map(quoted)].join(' ');
    return { values: parsed.values as Values<Options>, operands: parsed.positionals, typed };
  } catch (error) {
    // Node.js adds advice about arguments after `--`, which most commands do not take.
    const said = error instanceof Error ? error.message : String(error);
    const short = said.replace(/\.? To specify a positional argument[^]*$/, '');
    throw new UsageError(short === said ? said : short + adviceFor(short, name, operands, options), { cause: error });
  }
}

/** An argument as a shell takes it. */
export function quoted(arg: string): string {
  return /^[\w./,:=@+-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", String.raw`'\''`)}'`;
}

/** What to do about an unknown option. */
function adviceFor(said: string, name: string, operands: readonly string[], options: object): string {
  const other = { from: 'to', to: 'from' }[/'--(from|to)'/.exec(said)?.[1] ?? ''];
  if (other !== undefined && other in options) return `: it takes --${other}`;
  // Keys and values are the only operands that may begin so.
  if (!operands.includes('KEY')) return '';
  return `: what begins with - goes behind --, as in ${name} [options] -- ${operands.join(' ')}`;
}

function helpOf({ name, operands = [], about, options, examples }: Command<Record<string, Option>>): string {
  const rows = [...Object.entries(options), ['help', { help: 'this text' }] as const].map(
    ([option, { value, default: unset, help }]: readonly [string, Option]) =>
      [
        `--${option}${value === undefined ? '' : ` ${value}`}`,
        help + (unset === undefined ? '' : `; default ${unset}`),
      ] as const,
  );
  const width = Math.max(...rows.map(([left]) => left.length)) + 2;
  const lines = rows.map(([left, right]) => `  ${left.padEnd(width)}${right}`);
  const usage = [name, ...operands, '[options]'].join(' ');
  return [usage, '', about, '', ...lines, '', 'Examples:', ...examples.map((example) => `  ${example}`)].join('\n');
}

/** Runs a command, or prints its help. A wrong command line is printed and gives exit code 2. */
export async function runCommand<Options extends Readonly<Record<string, Option>>>(
  declared: Command<Options>,
  args: readonly string[],
  work: (given: CommandLine<Options>) => Promise<number | void>,
): Promise<void> {
  if (args.includes('--help')) {
    sayLines(helpOf(declared));
    return;
  }
  try {
    const code = await work(commandLineOf(declared, args));
    if (code !== undefined) process.exitCode = code;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    warnOf(error);
    warn(`All options: ${declared.name} --help`);
    process.exitCode = EXIT_USAGE;
  }
}

/** The whole number that `text` spells, in digits or like 2.5e6. Throws a UsageError. */
export function wholeNumber(
  option: string,
  text: string,
  least: number,
  most: number = Number.MAX_SAFE_INTEGER,
): number {
  const value = /^\d+(\.\d+)?(e\d{1,2})?$/i.test(text) ? Number(text) : NaN;
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  const range = most === Number.MAX_SAFE_INTEGER ? `${least} on` : `${least} to ${most}`;
  throw new UsageError(`${option} takes a whole number from ${range}, not ${JSON.stringify(text)}`);
}

/** The number that `text` spells, above 0. Throws a UsageError. */
export function positiveNumber(option: string, text: string, most: number = Infinity): number {
  const value = text.trim() === '' ? NaN : Number(text);
  if (value > 0 && value <= most && Number.isFinite(value)) return value;
  const range = most === Infinity ? 'above 0' : `above 0, at most ${most}`;
  throw new UsageError(`${option} takes a number ${range}, not ${JSON.stringify(text)}`);
}

/** One of `choices`. Throws a UsageError. */
export function choice<Choice extends string>(option: string, text: string, choices: readonly Choice[]): Choice {
  const found = choices.find((one) => one === text);
  if (found !== undefined) return found;
  throw new UsageError(`${option} is one of ${choices.join(', ')}, not ${JSON.stringify(text)}`);
}

type Given<T> = { readonly [Name in keyof T as undefined extends T[Name] ? never : Name]: T[Name] } & {
  readonly [Name in keyof T as undefined extends T[Name] ? Name : never]?: Exclude<T[Name], undefined>;
};

/** The same members without those that are undefined, as options are that were left out. */
export function given<T extends object>(members: T): Given<T> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Given<T>;
}

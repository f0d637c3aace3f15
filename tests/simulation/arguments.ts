// The command line of the simulation, understood before anything runs: a word that means nothing is an error, and never a default.
import { parseArgs } from 'node:util';

export type Command =
  /** Many seeds, for `forMs` at most. */
  | {
      readonly kind: 'seeds';
      readonly from: number;
      readonly count: number;
      readonly forMs: number | undefined;
      readonly workers: number | undefined;
      /** Writes what occurred into RELIABILITY.md. */
      readonly writesFigures: boolean;
    }
  | { readonly kind: 'seed'; readonly seed: number; readonly isShrunk: boolean }
  | { readonly kind: 'scenario'; readonly file: string };

/** The command line cannot be understood; the message says what it may be. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

const USAGE = `npm run simulate -- --seeds N [--from S | --from fresh] [--workers W] [--figures]
npm run simulate -- --seed S [--shrink]     one seed, with everything that happened
npm run simulate -- --scenario FILE         a scenario that shrinking left
npm run soak -- --minutes N                 fresh seeds for so long`;

const SEEDS_DEFAULT = 1_000;
/** Seeds to come when time alone ends a run. */
const SEEDS_WITHOUT_END = 2 ** 31;

/**
 * Of a flag that is given twice the last counts, so that `npm run soak -- --minutes 3` overrules the script's own. `drawSeed` finds a fresh first
 * seed. Throws a UsageError.
 */
export function commandOf(args: readonly string[], drawSeed: () => number): Command {
  const values = parsed(args);
  const { seeds, from, workers, minutes, seed, scenario, shrink, figures } = values;
  const isMany = [seeds, from, workers, minutes].some((value) => value !== undefined) || figures;
  if ([isMany, seed !== undefined, scenario !== undefined].filter(Boolean).length > 1)
    throw refusal('many seeds, one --seed, or one --scenario: these do not go together');
  if (shrink && seed === undefined) throw refusal('--shrink needs the --seed to be shrunk');
  if (scenario !== undefined) return { kind: 'scenario', file: scenario };
  if (seed !== undefined) return { kind: 'seed', seed: whole('--seed', seed, 0), isShrunk: shrink };
  const isFresh = from === 'fresh' || (from === undefined && minutes !== undefined);
  const isTimed = seeds === undefined && minutes !== undefined;
  return {
    kind: 'seeds',
    from: isFresh ? drawSeed() : whole('--from', from ?? '1', 0),
    count: isTimed ? SEEDS_WITHOUT_END : whole('--seeds', seeds ?? String(SEEDS_DEFAULT), 1),
    forMs: minutes === undefined ? undefined : positive('--minutes', minutes) * 60_000,
    workers: workers === undefined ? undefined : whole('--workers', workers, 1),
    writesFigures: figures,
  };
}

function parsed(args: readonly string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const options = { seeds: text, from: text, workers: text, minutes: text, seed: text, scenario: text };
  try {
    return parseArgs({ args: [...args], options: { ...options, shrink: flag, figures: flag } }).values;
  } catch (error) {
    throw refusal(error instanceof Error ? error.message : String(error));
  }
}

/** The number that `text` spells, a whole one from `least` on. Throws a UsageError. */
export function whole(name: string, text: string, least: number): number {
  const value = text.trim() === '' ? NaN : Number(text);
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw refusal(`${name} takes a whole number from ${least} on, not ${JSON.stringify(text)}`);
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw refusal(`${name} takes a number above 0, not ${JSON.stringify(text)}`);
}

function refusal(what: string): UsageError {
  return new UsageError(`${what}\n\n${USAGE}`);
}

/** Runs a command of this folder; what its caller wrote wrong is told without a stack. */
export async function runCommand(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(error.message);
    process.exitCode = 2;
  }
}

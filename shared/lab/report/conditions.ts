// What `--fail-if` says: conditions on how figures changed against an earlier report. `ycsb-a.throughput<0.9` holds for a cell of the workload whose
// throughput is below 0.9 times what it was, by more than chance. Grammar:
//   conditions = condition {"," condition}    condition = {name "."} figure ("<" | ">") ratio
// A name is a provider, a layout or a workload, and narrows the condition to its cells; names of one kind are alternatives.
import { LAYOUTS, PROVIDERS, WORKLOADS } from '../kit/dimensions.ts';
import { type Against, type Change, COMPARED_NAMES } from './schema.ts';

export interface Condition {
  /** As it was written. */
  readonly text: string;
  readonly names: readonly string[];
  readonly figure: Change['figure'];
  readonly comparison: '<' | '>';
  /** Now to before. */
  readonly ratio: number;
}

const KINDS: readonly (readonly [kind: 'provider' | 'layout' | 'workload', names: readonly string[]])[] = [
  ['provider', PROVIDERS],
  ['layout', LAYOUTS],
  ['workload', WORKLOADS],
];

const FIGURES: readonly string[] = COMPARED_NAMES;

const PATTERN = /^(?<path>[\w.-]+)(?<comparison>[<>])(?<ratio>\d+(\.\d+)?|\.\d+)$/;

/** Reads the conditions. Throws a SyntaxError that says what may stand there. */
export function conditionsOf(text: string): Condition[] {
  return text.split(',').map((one) => conditionOf(one.replaceAll(/\s/g, '')));
}

function conditionOf(text: string): Condition {
  const { path = '', comparison, ratio } = PATTERN.exec(text)?.groups ?? {};
  const names = path.split('.');
  const figure = names.pop() ?? '';
  const known: readonly string[] = KINDS.flatMap(([, some]) => some);
  const wrong = names.find((name) => !known.includes(name));
  if (wrong !== undefined) throw new SyntaxError(`${text}: "${wrong}" is none of ${known.join(', ')}`);
  if (comparison === undefined)
    throw new SyntaxError(`"${text}" is no condition; write one like ycsb-a.throughput<0.9 or container.p99>1.2`);
  if (!FIGURES.includes(figure)) throw new SyntaxError(`${text}: "${figure}" is none of ${FIGURES.join(', ')}`);
  return {
    text,
    names,
    figure: figure as Change['figure'],
    comparison: comparison as '<' | '>',
    ratio: Number(ratio),
  };
}

/** Changes that meet a condition, each with the first it meets. What may be chance meets none. */
export function metBy(
  { changes }: Against,
  conditions: readonly Condition[],
): { condition: Condition; change: Change }[] {
  return changes.flatMap((change) => {
    const condition = conditions.find((one) => isMet(one, change));
    return condition === undefined ? [] : [{ condition, change }];
  });
}

/** Conditions that no figure of both reports could ever meet: as they are written they watch nothing. */
export function idleConditions({ changes }: Against, conditions: readonly Condition[]): Condition[] {
  return conditions.filter((condition) => !changes.some((change) => isAbout(condition, change)));
}

function isMet(condition: Condition, change: Change): boolean {
  if (change.verdict === 'undecided' || !isAbout(condition, change)) return false;
  return condition.comparison === '<' ? change.ratio < condition.ratio : change.ratio > condition.ratio;
}

function isAbout({ names, figure }: Condition, change: Change): boolean {
  return (
    figure === change.figure &&
    KINDS.every(([kind, all]) => {
      const wanted = names.filter((name) => all.includes(name));
      return wanted.length === 0 || wanted.includes(change[kind]);
    })
  );
}

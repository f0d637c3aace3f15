// Conditions of `--fail-if`, such as `ycsb-c.p99>50` (ms) and `ycsb-a.throughput<0.9x` (of before):
//   conditions = condition {"," condition}
//   condition = {name "."} figure ("<" | ">") number ["x"]
// Names of one kind are alternatives.
import { LAYOUTS, PROVIDERS, WORKLOADS } from '../kit/dimensions.ts';
import { factor } from '../kit/figure-format.ts';
import type { Coordinates } from '../load/cell.ts';
import { COMPARED } from './against.ts';
import { type Change, COMPARED_NAMES, type Report } from './report-schema.ts';
import { cellWords } from './names.ts';

export interface Condition {
  readonly text: string;
  readonly names: readonly string[];
  readonly figure: Change['figure'];
  readonly comparison: '<' | '>';
  /** In the figure's unit; of a relative condition now to before. */
  readonly bound: number;
  /** Whether it is about the change since an earlier report, which is then needed. */
  readonly isRelative: boolean;
  /** Whether the bound has a unit. */
  readonly hasUnit: boolean;
}

const KINDS: readonly (readonly [kind: 'provider' | 'layout' | 'workload', names: readonly string[]])[] = [
  ['provider', PROVIDERS],
  ['layout', LAYOUTS],
  ['workload', WORKLOADS],
];

const PATTERN = /^(?<path>[\w.-]+)(?<comparison>[<>])(?<bound>\d+(\.\d+)?|\.\d+)(?<unit>x|ms|us|\/s|\$)?$/;

export function conditionsOf(text: string): Condition[] {
  return text.split(',').map((one) => conditionOf(one.replaceAll(/\s/g, '')));
}

function conditionOf(text: string): Condition {
  const { path = '', comparison, bound, unit } = PATTERN.exec(text)?.groups ?? {};
  const names = path.split('.');
  const last = names.pop() ?? '';
  const figure = COMPARED_NAMES.find((name) => name === last);
  const known: readonly string[] = KINDS.flatMap(([, some]) => some);
  const wrong = names.find((name) => !known.includes(name));
  if (wrong !== undefined) throw new SyntaxError(`${text}: "${wrong}" is none of ${known.join(', ')}`);
  if (comparison === undefined)
    throw new SyntaxError(
      `"${text}" is no condition; write one like ycsb-c.p99>50 (ms) or, against an earlier report, container.throughput<0.9x`,
    );
  if (figure === undefined) throw new SyntaxError(`${text}: "${last}" is none of ${COMPARED_NAMES.join(', ')}`);
  const { sign } = COMPARED[figure];
  if (unit !== undefined && unit !== 'x' && unit !== sign)
    throw new SyntaxError(`${text}: ${figure} is in ${sign}, or against an earlier report in x`);
  return {
    text,
    names,
    figure,
    comparison: comparison as '<' | '>',
    bound: Number(bound),
    isRelative: unit === 'x',
    hasUnit: unit !== undefined,
  };
}

/** With an earlier report a bare number is ambiguous: what to write instead of the first one. */
export function unclearAmong(conditions: readonly Condition[]): string | undefined {
  const unclear = conditions.find(({ hasUnit }) => !hasUnit);
  if (unclear === undefined) return undefined;
  const { text, figure } = unclear;
  return `${text} is unclear beside an earlier report: ${text}x is now to before, ${text}${COMPARED[figure].sign} the figure itself`;
}

/** A cell or a change that a condition is tried on. */
interface Judged {
  readonly cell: Coordinates;
  readonly value: number;
  /** A change that may be chance meets no condition. */
  readonly isTold: boolean;
  /** `is 0.50 x (p 0.002)`, `has 61.2 ms`. */
  readonly words: string;
}

/** A line for each cell that meets a condition. An absolute one is about the median. */
export function metBy(report: Pick<Report, 'cells' | 'against'>, conditions: readonly Condition[]): string[] {
  return conditions.flatMap((condition) =>
    judgedBy(report, condition)
      .filter(({ value, isTold }) => isTold && isBeyond(value, condition))
      .map(({ cell, words }) => `--fail-if ${condition.text}: ${cellWords(cell)} ${words}`),
  );
}

/** A line for each condition that no cell has a figure for: as written it watches nothing. */
export function idleAmong(report: Pick<Report, 'cells' | 'against'>, conditions: readonly Condition[]): string[] {
  return conditions
    .filter((condition) => judgedBy(report, condition).length === 0)
    .map(({ text, isRelative }) => `--fail-if ${text}: no cell${isRelative ? ' of both reports' : ''} has this figure`);
}

function isBeyond(value: number, { comparison, bound }: Condition): boolean {
  return comparison === '<' ? value < bound : value > bound;
}

function judgedBy({ cells, against }: Pick<Report, 'cells' | 'against'>, condition: Condition): Judged[] {
  const { figure, isRelative } = condition;
  const { of, unit } = COMPARED[figure];
  const all = isRelative
    ? (against?.changes ?? []).filter((change) => change.figure === figure).map(judgedChange)
    : cells.flatMap((cell) => {
        const value = of(cell)?.median;
        const words = `has ${Number(value?.toPrecision(3))} ${unit}`;
        return value === undefined ? [] : [{ cell, value, isTold: true, words }];
      });
  return all.filter(({ cell }) => isAbout(condition, cell));
}

function judgedChange(cell: Change): Judged {
  const { ratio, p, verdict } = cell;
  return { cell, value: ratio, isTold: verdict !== 'undecided', words: `is ${factor(ratio)} (p ${p.toFixed(3)})` };
}

function isAbout({ names }: Condition, cell: Coordinates): boolean {
  return KINDS.every(([kind, all]) => {
    const wanted = names.filter((name) => all.includes(name));
    return wanted.length === 0 || wanted.includes(cell[kind]);
  });
}

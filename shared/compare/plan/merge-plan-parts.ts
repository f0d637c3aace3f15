// The parts of a plan together, as if one coordinator had asked all of their machines. A part that is missing, or of another comparison, is told, and the
// rest goes on: of a run in which one part is missing nobody knows which load the others met, so it has no figure.
import { coordinatesSchema } from '../cell/coordinates.ts';
import { type Provider, PROVIDERS } from '../dimensions.ts';
import { itemsOf, leftOutOf } from './cells.ts';
import type { CellRun, FailedRun, PlanOutcome } from './outcome.ts';
import type { Plan } from './plan.ts';
import type { PlanPart } from './part-file.ts';
import { runIdOf } from './plan-part.ts';

/** What was in a file: a part, or why it is none, in one line. */
export type PartFile = { readonly name: string } & ({ readonly part: PlanPart } | { readonly why: string });

export interface MergedParts {
  readonly plan: Plan;
  readonly startAt: string;
  readonly durationMs: number;
  readonly providers: readonly Provider[];
  readonly outcome: PlanOutcome;
  /** What is missing of the comparison, a sentence each. */
  readonly lost: readonly string[];
}

/** Throws a TypeError if no file holds a part: there is no plan then. The first part that can be read says which comparison it is. */
export function mergePlanParts(files: readonly PartFile[]): MergedParts {
  const read = files.flatMap((file) => ('part' in file ? [file] : []));
  const [first] = read;
  const lost = files.flatMap((file) => ('why' in file ? [`${file.name}: ${file.why}`] : []));
  if (first === undefined) throw new TypeError(['none of the files is a part of a comparison', ...lost].join('\n'));
  const { plan, startAt } = first.part;
  const [own, others] = split(read, ({ part }) => part.startAt === startAt && isSame(part.plan, plan));
  lost.push(...others.map(({ name }) => `${name}: a part of another comparison than ${first.name}`));
  const providers = PROVIDERS.filter((provider) => own.some(({ part }) => part.provider === provider));
  const clouds = providers.map((provider) =>
    cloudOf(
      provider,
      plan,
      own.filter(({ part }) => part.provider === provider),
    ),
  );
  const parts = own.map(({ part }) => part);
  return {
    plan,
    startAt,
    durationMs: Math.max(...parts.map(({ endedAt }) => Date.parse(endedAt))) - Date.parse(startAt),
    providers,
    outcome: {
      runs: clouds.flatMap(({ runs }) => runs),
      failures: clouds.flatMap(({ failures }) => failures),
      searches: [],
      leftOut: leftOutOf(plan, providers),
      leftovers: parts.flatMap(({ leftovers }) => leftovers),
      endedEarly: endOf(parts),
    },
    lost: [...lost, ...clouds.flatMap((cloud) => cloud.lost)],
  };
}

type Read = Extract<PartFile, { readonly part: PlanPart }>;

interface Cloud {
  readonly runs: readonly CellRun[];
  readonly failures: readonly FailedRun[];
  readonly lost: readonly string[];
}

function cloudOf(provider: Provider, plan: Plan, files: readonly Read[]): Cloud {
  const count = plan.instances[0]!;
  const firsts = [...Map.groupBy(files, ({ part }) => part.part.index).values()].map(([first]) => first!);
  const byIndex = new Map(firsts.map(({ part }) => [part.part.index, part]));
  const twice = files.filter((file) => !firsts.includes(file));
  const missing = Array.from({ length: count }, (_, index) => index).filter((index) => !byIndex.has(index));
  const lost = [
    ...twice.map(({ name, part }) => `${name}: ${partWords(part.part.index, count)} on ${provider} was given twice`),
    ...missing.map((index) => missingWords(provider, plan, byIndex.values().next().value!, index)),
  ];
  if (missing.length > 0) return { runs: [], failures: [], lost };
  const parts = [...byIndex.values()].toSorted((one, other) => one.part.index - other.part.index);
  const runs: CellRun[] = [];
  const failures: FailedRun[] = [];
  const results = parts.map(({ runs: own }) => new Map(own.map((run) => [nameOf(run), run.result])));
  for (const { cell, repetition } of itemsOf(plan, [provider])) {
    const own = results.flatMap((part) => part.get(nameOf({ cell, repetition })) ?? []);
    if (own.length === count) runs.push({ cell, repetition, parts: own });
    else failures.push(...failureOf({ cell, repetition }, parts));
  }
  return { runs, failures, lost };
}

type Place = Pick<CellRun, 'cell' | 'repetition'>;

/** One line for a run that some parts have no result of; none where the parts ended before it. */
function failureOf({ cell, repetition }: Place, parts: readonly PlanPart[]): FailedRun[] {
  const name = nameOf({ cell, repetition });
  const failed = parts.flatMap(({ part, failures }) =>
    failures
      .filter((failure) => nameOf({ cell: failure, repetition: failure.repetition }) === name)
      .map(({ error }) => ({ part, error })),
  );
  const [first] = failed;
  if (first === undefined) return [];
  const { index, count } = first.part;
  return [
    {
      ...cell,
      repetition,
      error: `${failed.length} of ${count} parts failed, number ${index + 1} with: ${first.error}`,
    },
  ];
}

function missingWords(provider: Provider, plan: Plan, { startAt }: PlanPart, index: number): string {
  const words = `${partWords(index, plan.instances[0]!)} on ${provider} is missing, so none of the runs there has a figure`;
  if (index > 0) return words;
  return `${words}; it also removes the datasets: look for those that begin with ${runIdOf(Date.parse(startAt))}`;
}

function endOf(parts: readonly PlanPart[]): string | null {
  const ended = parts.filter(({ endedEarly }) => endedEarly !== null);
  return ended.length === 0
    ? null
    : ended
        .map(({ provider, part, endedEarly }) => `${partWords(part.index, part.count)} on ${provider}: ${endedEarly}`)
        .join('; ');
}

function partWords(index: number, count: number): string {
  return `part ${index + 1} of ${count}`;
}

/** Whatever else stands beside the coordinates. */
function nameOf({ cell, repetition }: Place): string {
  return JSON.stringify([repetition, coordinatesOf.parse(cell)]);
}

const coordinatesOf = coordinatesSchema.strip();

/** Both were read by the same schema, which orders their fields. */
function isSame(one: Plan, other: Plan): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function split<Thing>(things: readonly Thing[], isOwn: (thing: Thing) => boolean): [Thing[], Thing[]] {
  return [things.filter(isOwn), things.filter((thing) => !isOwn(thing))];
}

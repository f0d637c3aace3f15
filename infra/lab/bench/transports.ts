// Containers and single entities, each over the driver's own transport and over the cloud's SDK.
import type { Provider } from '../../../shared/lab/kit/dimensions.ts';
import type { Chapter, Row } from '../../../shared/lab/report/chapters/schema.ts';
import { PROVIDER_NAMES } from '../../../shared/lab/report/names.ts';
import type { Experiment, ExperimentContext } from '../experiments/experiment.ts';
import type { Cells } from '../experiments/rounds.ts';
import { type Contest, CONTESTS } from './contest/goals.ts';
import { type ContestOptions, nameOf, played, tableOf } from './contests.ts';
import { type SideProcess, startSide } from './side-process.ts';

const CORNERS = ['containers, own', 'containers, SDK', 'entities, own', 'entities, SDK'] as const;
type Corner = (typeof CORNERS)[number];

/** Each pair differs in one thing; the ratio is of the first to the second. */
const PAIRS: readonly (readonly [what: string, Corner, Corner])[] = [
  ['packing, own transport', 'containers, own', 'entities, own'],
  ['packing, SDK', 'containers, SDK', 'entities, SDK'],
  ['transport, containers', 'containers, own', 'containers, SDK'],
  ['transport, entities', 'entities, own', 'entities, SDK'],
];

/** Alone, with 32 callers, in bulk. */
const PLAYED = CONTESTS.filter(
  ({ name, inFlight, isFar }) => !isFar && inFlight <= 32 && ['put', 'get', 'bulk put'].includes(name),
);

export function transportsOf(provider: Provider, options: ContestOptions): Experiment {
  return {
    id: `${provider} transports`,
    title: `${PROVIDER_NAMES[provider]}: two layouts over two transports`,
    question: 'What does packing bring, and what the transport?',
    source: null,
    run: (context) => chapter(provider, options, context),
  };
}

async function chapter(provider: Provider, options: ContestOptions, context: ExperimentContext): Promise<Chapter> {
  const { backend, endpoint } = await context.emulator(provider);
  const { warmUpOperations } = options;
  const sides: Record<string, SideProcess> = {};
  try {
    for (const corner of CORNERS) {
      const side = corner.startsWith('containers') ? 'ours' : 'entities';
      const transport = corner.endsWith('own') ? 'own' : 'sdk';
      const setup = { side, transport, provider, endpoint, dataset: 'transports', warmUpOperations } as const;
      sides[corner] = await startSide(setup, context.signal);
    }
    const rows: Row[] = [];
    for (const contest of PLAYED) {
      context.log(nameOf(contest));
      rows.push(...pairsOf(contest, await played(contest, sides, options, context.signal)));
    }
    return { tables: [tableOf(rows, backend, options.rounds)], wordTables: [], cannotShow: [], findings: [] };
  } finally {
    for (const side of Object.values(sides)) await side.close();
  }
}

/** Two rows for each pair: its ratios stand beside the first. */
export function pairsOf(contest: Contest, cells: Cells): Row[] {
  return PAIRS.flatMap(([what, one, other]) => {
    const against = `${nameOf(contest)}: ${what}: ${other}`;
    return [other, one].map((corner) => {
      const id = `${nameOf(contest)}: ${what}: ${corner}`;
      return { id, name: id, against, figures: cells.get(corner) ?? {} };
    });
  });
}

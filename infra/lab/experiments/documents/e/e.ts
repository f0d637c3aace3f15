// Document E: what single, batched and cached operations take and cost, how many fit into a request, and what callers at a time bring.
import type { Provider } from '../../../../../shared/lab/kit/dimensions.ts';
import { Backends } from '../../backends.ts';
import { whereOf } from '../../columns.ts';
import type { Experiment, ExperimentContext } from '../../experiment.ts';
import { modelledCells, type ModelledDocument, withCells } from '../../modelled.ts';
import { PUBLISHED, SOURCES } from '../../published/published.ts';
import type { Chapter } from '../../results.ts';
import { alternatingRuns } from '../../rounds.ts';
import { findingsOf } from './findings.ts';
import { maximumTable, maximumVariants, requestTable, requestVariants } from './maximum.ts';
import { MODELLED_E, PROVIDERS } from './modelled.ts';
import { type Opened, openOperations } from './operations.ts';
import { priceTable, speedTables, speedVariants, writesTable } from './speed.ts';
import { type Crowds, throughputTables, throughputVariants } from './throughput.ts';

export interface OptionsE {
  readonly rounds: number;
  /** What the model plays, and how often. */
  readonly modelled: readonly ModelledDocument[];
  /** Records that are there to be read. */
  readonly loaded: number;
  readonly recordCounts: readonly number[];
  readonly crowds: Crowds;
  /** Rounds of the searches for the largest numbers; 0: none. */
  readonly searches: number;
}

const FULL: OptionsE = {
  rounds: 3,
  loaded: 10_000,
  recordCounts: PUBLISHED.gae_operations_2011.records,
  crowds: { callers: [1, 2, 5, 10, 32, 100], windowMs: 300 },
  searches: 2,
  modelled: MODELLED_E,
};

const TITLE = 'Google App Engine: speed of data operations';
const QUESTION = 'What do single, batched and cached operations take and cost, and how does it scale?';

export function experimentE(options: OptionsE = FULL): Experiment {
  return { id: 'e', title: TITLE, question: QUESTION, budgetMs: 170_000, run: (context) => chapter(context, options) };
}

async function chapter(context: ExperimentContext, options: OptionsE): Promise<Chapter> {
  const backends = new Backends(context);
  const opening = new Map<Provider, Promise<Opened>>();
  const opened = (provider: Provider) => (): Promise<Opened> => {
    const { loaded } = options;
    const open = opening.get(provider) ?? openOperations(backends, { provider, loaded, signal: context.signal });
    opening.set(provider, open);
    return open;
  };
  const { rounds, recordCounts, crowds, searches } = options;
  try {
    const modelled = await modelledCells(options.modelled, context);
    context.log('  operations on 1 to 1,000 records');
    const measured = await alternatingRuns(
      context,
      { rounds },
      PROVIDERS.flatMap((provider) => speedVariants(provider, opened(provider), recordCounts)),
    );
    const speeds = withCells(measured, modelled);
    context.log('  callers at a time');
    const throughputs = await alternatingRuns(
      context,
      { rounds },
      PROVIDERS.flatMap((provider) =>
        throughputVariants({ provider, crowds, signal: context.signal }, opened(provider)),
      ),
    );
    context.log('  largest numbers of records');
    const maxima = await alternatingRuns(
      context,
      { rounds: searches, warmUps: 0 },
      PROVIDERS.flatMap((provider) => maximumVariants(provider, opened(provider))),
    );
    const requests = await alternatingRuns(
      context,
      { rounds: Math.min(1, searches), warmUps: 0 },
      PROVIDERS.flatMap((provider) => requestVariants(provider, opened(provider), context.signal)),
    );
    const where = await whereOf(backends, PROVIDERS);
    const most = recordCounts.at(-1)!;
    const tables = [
      ...speedTables(speeds, where, recordCounts).toReversed(),
      writesTable(speeds, where, most),
      priceTable(speeds, where, most),
      maximumTable(maxima, where),
      requestTable(requests, where),
      ...throughputTables(throughputs, where, crowds),
    ];
    return {
      id: 'e',
      title: TITLE,
      question: QUESTION,
      source: SOURCES.E,
      tables,
      wordTables: [],
      cannotShow: [
        'Prices are of operations alone. Then a second of the processor was billed as well; what one costs today depends on the host, and an emulator cannot show it.',
        'The cache of now lies in the memory of the client itself; memcache was another machine.',
        'All callers share one process, and with the emulator two processors: where throughput stops growing is this machine, not the service, which adds machines.',
      ],
      findings: findingsOf(tables, most, crowds),
    };
  } finally {
    await backends.close();
  }
}

// Few large containers or many small ones: the question that all five documents ask, by the option `containerBytesMax`.
import { memoryDriver } from '../../../../../shared/drivers/memory.ts';
import type { Driver } from '../../../../../shared/store/index.ts';
import { Backends } from '../../backends.ts';
import type { Experiment, ExperimentContext } from '../../experiment.ts';
import type { Chapter } from '../../results.ts';
import { alternatingRuns, type Variant } from '../../rounds.ts';
import { findingsOf } from './findings.ts';
import { sizeTables } from './tables.ts';
import { type Amounts, columnsAt, type Place, type Site, storeOn, workAt } from './work.ts';

export interface OptionsSize extends Amounts {
  readonly rounds: number;
  /** In KiB; beside them runs the store's default. */
  readonly sizesKib: readonly number[];
}

const FULL: OptionsSize = {
  rounds: 3,
  sizesKib: [16, 32, 64, 128, 256, 512, 700],
  records: 5_000,
  puts: 30,
  putsOfEach: 10,
  gets: 50,
  firstGets: 5,
};

const TITLE = 'Container size: few large or many small';
const QUESTION = 'How large should a container be?';
const PLACES = ['memory', 'datastore', 'azure-tables'] as const satisfies readonly Place[];
/** The row of the store's default is `own`: see tables.ts. */
const OWN = 'own';

export function experimentSize(options: OptionsSize = FULL): Experiment {
  return {
    id: 'size',
    title: TITLE,
    question: QUESTION,
    budgetMs: 120_000,
    run: (context) => chapter(context, options),
  };
}

function rowOfSize(kib: number): string {
  return `${kib}-kib`;
}

async function chapter(context: ExperimentContext, options: OptionsSize): Promise<Chapter> {
  const backends = new Backends(context);
  const sites = new Sites(backends);
  const sizes: (number | undefined)[] = [...options.sizesKib, undefined];
  try {
    const variants = PLACES.flatMap((place) =>
      sizes.map((kib): Variant => {
        const row = kib === undefined ? OWN : rowOfSize(kib);
        return {
          row,
          columns: columnsAt(place),
          run: async (round) =>
            workAt(await sites.at(place, kib), { name: `round${round}`, amounts: options, signal: context.signal }),
        };
      }),
    );
    const cells = await alternatingRuns(context, options, variants);
    const where = {
      memory: 'memory driver',
      datastore: await backends.where('datastore'),
      'azure-tables': await backends.where('azure-tables'),
    };
    const tables = sizeTables(cells, where, options);
    return {
      id: 'size',
      document: null,
      title: TITLE,
      question: QUESTION,
      source: null,
      tables,
      wordTables: [],
      cannotShow: [
        'On an emulator a byte costs processor time of this machine and no time on a network; the services answer small and large entities in much the same time, as far as that is known.',
        'What a service does with many writers of one entity, whether it queues or throttles them, is not in an emulator.',
        'A table of a few thousand records has few large containers. Of one that is a hundred times as large there are a hundred times as many, and writers meet less often.',
      ],
      findings: findingsOf(tables, options.sizesKib),
    };
  } finally {
    await sites.close();
    await backends.close();
  }
}

/** A driver and a store for each place and size, opened once. */
class Sites {
  readonly #backends: Backends;
  readonly #opened = new Map<string, Promise<Site>>();
  readonly #drivers: Driver[] = [];

  constructor(backends: Backends) {
    this.#backends = backends;
  }

  /** Without a size: the store's default. */
  at(place: Place, kib: number | undefined): Promise<Site> {
    const key = `${place} ${kib}`;
    const site = this.#opened.get(key) ?? this.#open(place, kib);
    this.#opened.set(key, site);
    return site;
  }

  async #open(place: Place, kib: number | undefined): Promise<Site> {
    const driver =
      place === 'memory' ? memoryDriver() : (await this.#backends.emulator(place)).driver(`size${kib ?? OWN}`);
    this.#drivers.push(driver);
    const options = kib === undefined ? {} : { containerBytesMax: kib * 1_024 };
    return { place, driver, options, counted: storeOn(place, driver) };
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#opened.values()].map(async (site) => (await site).counted.store.close()));
    await Promise.allSettled(this.#drivers.map((driver) => driver.close()));
  }
}

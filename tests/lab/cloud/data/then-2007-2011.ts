// The clouds of 2008 to 2011, a provider for each article. Unknown mechanisms are left out: no
// loss, no tail, no limits. README.md tells fitted rows from others.
import { calmProvider } from './calm.ts';
import { measured, none } from '../../../../shared/lab/cloud/data/figures.ts';
import type { Figure, ParameterName, ProviderData } from '../../../../shared/lab/cloud/data/parameters.ts';

const A =
  'A, "Datastore Container: pickle versus marshal" (App Engine, 2008): an entity of 100 KB is read in 16 ms and written in 16 ms';
const B =
  'B, "Speeding up Azure Table Storage (2): parallelism" (a small web role, 2010): 10,000 entities in group transactions of 100, five runs';
const C =
  'C, "Improved Datastore performance" (App Engine, 2009): ten records of 10,000 characters or of one, five runs';
const E =
  'E, "Google App Engine: speed of data operations" (2011): wall time of 1, 10, 100 and 1,000 records of 500 characters, one run each';

const SILENT = 'the article does not tell';
/** The articles measured at their callers, so service times include the network. */
const WAY = 'part of the service times, which the callers measured';

/**
 * Six numbers of document E go through its fourteen rows with an error of 14.5 %; no line through
 * single writes is nearer.
 */
const FITTED_E = `${E}. Fitted`;

type Figures = Partial<Record<ParameterName, Figure>>;

function exactly(value: number, source: string): Figure {
  return measured(value, source, [value, value]);
}

/** A provider that has these numbers, and no others. */
function silentBut(name: string, date: string, provider: ProviderData['provider'], figures: Figures): ProviderData {
  const calm = calmProvider(provider);
  const rest = Object.entries(calm.figures).map(([name, figure]): [string, Figure] => [
    name,
    /^(network|get|getMany|commit|transaction|list|query)\./.test(name)
      ? none(name.startsWith('network') ? WAY : SILENT)
      : { ...figure, source: SILENT },
  ]);
  return { name, date, provider, figures: { ...(Object.fromEntries(rest) as ProviderData['figures']), ...figures } };
}

export const THEN_A_2008 = silentBut('then-a-2008', '2008', 'datastore', {
  'get.baseMs': exactly(16, A),
  'commit.baseMs': exactly(16, A),
});

export const THEN_B_2010 = silentBut('then-b-2010', '2010', 'azure-tables', {
  'commit.baseMs': exactly(200, `${B}: 5 entities a second without group transactions. Nagle's algorithm is in it`),
  'transaction.baseMs': exactly(175, `${B}. Fitted: 100 in a row take 17.76 s (mean of the baseline)`),
  'transaction.sigma': measured(
    0.15,
    `${B}: runs of 100 requests differ by 1.5 %, so requests by ten times that`,
    [0.1, 0.2],
  ),
  'partition.serialMsPerEntity': exactly(
    0.68,
    `${B}. Fitted: side by side 100 of them take 6.84 s, so the partition takes 68 ms for each, one after another`,
  ),
});

export const THEN_C_2009 = silentBut('then-c-2009', '2009', 'datastore', {
  'commit.baseMs': exactly(30.6, `${C}. Fitted: ten small records one by one take 312 ms (median)`),
  'commit.perKibMs': exactly(0, `${C}: size has no effect, it says`),
  'commit.sigma': measured(0.15, `${C}: runs of ten requests differ by 5 %`, [0.1, 0.25]),
  'transaction.baseMs': exactly(
    153,
    `${C}. Fitted: ten records in a transaction take 154 ms (median), its beginning and end included`,
  ),
  'transaction.sigma': measured(0.03, `${C}: four of five runs lie between 153 and 161 ms`, [0.02, 0.1]),
  'tail.share': measured(
    0.02,
    `${C}: three of fifteen runs, of 105 requests together, have one that is slow`,
    [0.01, 0.06],
  ),
  'tail.factor': measured(7, `${C}: by some 200 ms`, [3, 8]),
});

export const THEN_E_2011 = silentBut('then-e-2011', '2011', 'datastore', {
  'run.startMs': exactly(
    13.9,
    `${FITTED_E}, as all below on single writes 1, 100, 1,000; batched writes 10, 100; single reads 1, 100; batched reads 100, 1,000`,
  ),
  'commit.baseMs': exactly(23.91, FITTED_E),
  'commit.perEntityMs': exactly(3.81, FITTED_E),
  'get.baseMs': exactly(7.35, FITTED_E),
  'getMany.baseMs': exactly(7.35, 'as get'),
  'getMany.perEntityMs': exactly(0.609, FITTED_E),
  'batch.exponent': exactly(0.947, `${FITTED_E}: a batch grows by less than its entities`),
});

// Cloud Datastore, November 2026, for callers in its region. The provider publishes no latencies.
import { documented, guessed, measured, none, unlimited } from './figures.ts';
import type { ProviderData } from './parameters.ts';

const CLOUD_RUN =
  'https://github.com/googleapis/google-cloud-dotnet/issues/5333 (2020, by a maintainer): ten requests each from Cloud Run in europe-west1 to a ' +
  'database in europe-west2: lookups 14 to 21 ms, median 14.5; queries 14 to 24, median 19; inserts 24 to 55, median 47.5; some 6 ms of each are the way between the regions';
const DASHBOARD =
  'https://github.com/googleapis/google-cloud-datastore/issues/5 (2015): the provider put a lookup at 18 ms at the server, its caller saw 60';
const BATCHES_2014 =
  'https://blog.famzah.net/2014/05/02/google-app-engine-datastore-benchmark/: 1,000 entities fetched and updated in batches took 1.5 s';
const SCALE =
  'https://cloud.google.com/firestore/docs/understand-reads-writes-scale: reads take timestamps and no locks; each write is a read-write transaction';
const CONTENTION =
  'https://cloud.google.com/firestore/docs/transaction-data-contention: operations on one document are delayed or failed (ABORTED, "too much ' +
  'contention"); pessimistic is the default of the standard edition';
const LOCKS =
  'https://cloud.google.com/datastore/docs/concepts/transactions: databases are pessimistic by default: a transaction holds reader/writer locks, which ' +
  'can delay others';
const SINGLE_DOCUMENT =
  'https://firebase.google.com/docs/firestore/best-practices: no rate for one document is stated; "contention, higher latency, or other errors" at ' +
  'high enough rates. It was one a second for an entity group (https://cloud.google.com/datastore/docs/cloud-datastore-best-practices); ' +
  'https://github.com/madelynnblue/goon/pull/62 (2016) saw ten a second work for a short time';
const RAMP =
  'https://cloud.google.com/datastore/docs/best-practices#ramping_up_traffic: at most 500 operations a second to a new kind, 50 % more every 5 minutes';
const OVER_RAMP =
  'https://cloud.google.com/datastore/docs/troubleshooting: over that rule latency rises, and falls again when the service has scaled; hot ranges limit that';
const HOT_RANGE =
  'https://firebase.google.com/docs/firestore/solutions/shard-timestamp: 500 writes a second to a collection with an indexed value that only grows';
const CLIENT =
  '@google-cloud/datastore 11.1, datastore_client_config.json: lookups and queries are sent again on DEADLINE_EXCEEDED and UNAVAILABLE, after 100 ms, ' +
  'then 1.3 times that, within 60 s a request; commits never';
const NOT_HERE = 'Datastore knows no such limit';
const OUR_GUESS = 'our guess: no source was found';

export const DATASTORE_2026_11: ProviderData = {
  name: 'datastore-2026-11',
  date: '2026-11',
  provider: 'datastore',
  figures: {
    'network.oneWayMs.median': guessed(0.5, 'our guess for one region', [0.2, 1.5]),
    'network.oneWayMs.sigma': guessed(0.3, OUR_GUESS, [0.1, 0.6]),
    'get.baseMs': measured(8, `${CLOUD_RUN}. ${DASHBOARD}`, [4, 18]),
    'get.perEntityMs': none('a get reads one entity'),
    'get.perKibMs': guessed(0.01, 'our guess: 100 MB/s', [0.003, 0.05]),
    'get.sigma': measured(0.25, `${CLOUD_RUN}: their logarithms spread by 0.18; ten are few`, [0.15, 0.6]),
    'getMany.baseMs': measured(8, 'as get', [4, 18]),
    'getMany.perEntityMs': guessed(0.15, `between nothing and ${BATCHES_2014}`, [0.03, 0.7]),
    'getMany.perKibMs': guessed(0.01, 'as get', [0.003, 0.05]),
    'getMany.sigma': guessed(0.25, 'as get', [0.15, 0.6]),
    'commit.baseMs': measured(30, CLOUD_RUN, [12, 45]),
    'commit.perEntityMs': measured(0.8, `less than half of ${BATCHES_2014}`, [0.2, 1.5]),
    'commit.perKibMs': guessed(0.02, 'our guess: 50 MB/s', [0.005, 0.1]),
    'commit.sigma': measured(0.3, `${CLOUD_RUN}: their logarithms spread by 0.28`, [0.2, 0.6]),
    'commit.perIndexRowMs': guessed(
      0.3,
      'https://cloud.google.com/firestore/docs/best-practices: index fanout is the main contributor to write latency; how much, our guess',
      [0, 1.5],
    ),
    'transaction.baseMs': guessed(45, 'a commit and the request that begins it; of a batch in a transaction', [20, 70]),
    'transaction.perEntityMs': measured(0.8, 'as commit', [0.2, 1.5]),
    'transaction.perKibMs': guessed(0.02, 'as commit', [0.005, 0.1]),
    'transaction.sigma': measured(0.3, 'as commit', [0.2, 0.6]),
    'list.baseMs': measured(13, CLOUD_RUN, [6, 20]),
    'list.perEntityMs': guessed(0.02, 'our guess: keys alone', [0.005, 0.1]),
    'list.perKibMs': guessed(0.01, 'as get', [0.003, 0.05]),
    'list.sigma': measured(0.25, CLOUD_RUN, [0.15, 0.6]),
    'batch.exponent': guessed(1, 'the figures of 2011 say 0.93; no newer source', [0.85, 1]),
    'tail.share': guessed(0.01, OUR_GUESS, [0.002, 0.03]),
    'tail.factor': guessed(5, OUR_GUESS, [3, 15]),
    'effect.share': guessed(0.5, 'our guess: half of a service time goes before the effect', [0.2, 0.9]),
    'loss.requestShare': guessed(1e-5, OUR_GUESS, [0, 1e-4]),
    'loss.replyShare': guessed(1e-5, OUR_GUESS, [0, 1e-4]),
    'loss.silentShare': guessed(0.5, 'our guess: the other half are connections that break at once', [0, 1]),
    'contention.holdShare': guessed(
      0.7,
      `that writes wait: ${SCALE}; ${CONTENTION}; ${LOCKS}. For how much of their time: our guess`,
      [0.4, 1],
    ),
    'contention.waitMaxMs': guessed(
      10_000,
      `that some are failed: ${CONTENTION}. After how long: our guess`,
      [2_000, 30_000],
    ),
    'contention.writesPerSecond': guessed(25, SINGLE_DOCUMENT, [1, 1e9]),
    'contention.burstWrites': guessed(50, SINGLE_DOCUMENT, [5, 500]),
    'partition.unitsPerSecond': unlimited(NOT_HERE),
    'partition.burstSeconds': none(NOT_HERE),
    'partition.serialMsPerEntity': none(NOT_HERE),
    'account.unitsPerSecond': unlimited(NOT_HERE),
    'account.burstSeconds': none(NOT_HERE),
    'unit.kib': guessed(1_024, NOT_HERE, [1_024, 1_024]),
    'throttle.replyMs': guessed(3, OUR_GUESS, [1, 10]),
    'ramp.isCold': guessed(
      0,
      '0: the database has carried this load for hours; 1: it is new. A choice, no fact',
      [0, 1],
    ),
    'ramp.startPerSecond': documented(500, RAMP),
    'ramp.growth': documented(1.5, RAMP),
    'ramp.everyMs': documented(300_000, RAMP),
    'ramp.waitMaxMs': guessed(
      1_000,
      `that requests wait before they fail: ${OVER_RAMP}. How long: our guess`,
      [100, 10_000],
    ),
    'range.count': guessed(64, 'our guess: ranges that a database in use has been split into', [8, 512]),
    'range.writesPerSecond': documented(500, HOT_RANGE),
    'range.waitMaxMs': guessed(1_000, 'as for the ramp', [100, 10_000]),
    'range.splitAfterMs': guessed(
      300_000,
      `that hot ranges are split: ${OVER_RAMP}. After how long: our guess, from the ramp`,
      [60_000, 900_000],
    ),
    'sdk.timeoutMs': documented(60_000, CLIENT),
    'sdk.readRetriesMax': documented(20, `${CLIENT}: as many as 600 s allow; in the model 20`),
    'sdk.writeRetriesMax': documented(0, CLIENT),
    'sdk.retryBaseMs': documented(100, CLIENT),
    'sdk.retryFactor': documented(1.3, CLIENT),
    'sdk.retryDelayMaxMs': documented(60_000, CLIENT),
  },
};

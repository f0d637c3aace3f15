// Azure Table Storage, standard, in its region, November 2026. The provider tells no latencies.
import { documented, guessed, measured, none, unlimited } from './figures.ts';
import type { ProviderData } from './parameters.ts';

const TARGETS =
  'https://learn.microsoft.com/azure/storage/tables/scalability-targets: up to 2,000 entities of 1 KiB a second in a partition and 20,000 transactions a ' +
  'second in an account; beyond them 503 (Server Busy) or 500 (Operation Timeout)';
const OVER_TARGET =
  'https://stackoverflow.com/questions/15025906 (2013): 16,000 small entities a second in one partition, 64 transactions of 100 at a time, unthrottled';
const FUNCTIONS =
  'https://github.com/Azure/Azure-Functions/issues/1238 (2019): the majority of reads from a function in the same region take less than 10 ms; after minutes idle up to a second';
const INSERTS =
  'https://stackoverflow.com/questions/14443081 (2013): 1,200 to 1,550 inserts a second from one machine, concurrency unstated';
const TAIL =
  'https://github.com/Azure/azure-storage-net/issues/719 (2018): point reads in one region have a long tail, some of seconds; the charts are lost';
const SDK =
  '@azure/core-rest-pipeline 1.24: 3 retries on 408, 5xx and broken connections, after 1 s, then twice that, at most 64 s, half of it at random';
const ETAG =
  'https://learn.microsoft.com/dotnet/api/azure.data.tables.models.tableerrorcode.updateconditionnotsatisfied: a condition that does not hold is an error ' +
  '(412); of waiting nothing is said';
const NOT_HERE = 'Table Storage knows no such thing';
const OUR_GUESS = 'our guess: no source was found';

export const AZURE_TABLES_2026_11: ProviderData = {
  name: 'azure-tables-2026-11',
  date: '2026-11',
  provider: 'azure-tables',
  figures: {
    'network.oneWayMs.median': guessed(0.5, 'our guess for one region', [0.2, 1.5]),
    'network.oneWayMs.sigma': guessed(0.3, OUR_GUESS, [0.1, 0.6]),
    'get.baseMs': measured(4, FUNCTIONS, [2, 9]),
    'get.perEntityMs': none('a get reads one entity'),
    'get.perKibMs': guessed(0.015, 'our guess: 100 MB/s, and base64', [0.005, 0.08]),
    'get.sigma': guessed(0.4, OUR_GUESS, [0.2, 0.6]),
    'getMany.baseMs': guessed(4, 'there is no batched read; nothing in the model sends one', [4, 4]),
    'getMany.perEntityMs': none('there is no batched read'),
    'getMany.perKibMs': none('there is no batched read'),
    'getMany.sigma': none('there is no batched read'),
    'commit.baseMs': guessed(8, `our guess: twice a read, for three copies are written. ${INSERTS}`, [4, 20]),
    'commit.perEntityMs': none('a commit writes one entity'),
    'commit.perKibMs': guessed(0.03, 'our guess: 50 MB/s, and base64', [0.01, 0.15]),
    'commit.sigma': guessed(0.4, OUR_GUESS, [0.2, 0.6]),
    'commit.perIndexRowMs': none('there are no indexes but the keys'),
    'transaction.baseMs': guessed(12, 'our guess: half more than a commit', [6, 30]),
    'transaction.perEntityMs': guessed(
      0.4,
      `our guess, within what is possible by ${OVER_TARGET}: a transaction of 100 took at most 400 ms`,
      [0.1, 1.6],
    ),
    'transaction.perKibMs': guessed(0.03, 'as commit', [0.01, 0.15]),
    'transaction.sigma': guessed(0.4, OUR_GUESS, [0.2, 0.6]),
    'list.baseMs': guessed(8, 'our guess: twice a read', [4, 20]),
    'list.perEntityMs': guessed(0.02, OUR_GUESS, [0.005, 0.1]),
    'list.perKibMs': guessed(0.015, 'as get', [0.005, 0.08]),
    'list.sigma': guessed(0.4, OUR_GUESS, [0.2, 0.6]),
    'batch.exponent': guessed(1, 'our guess: the entities of a transaction are written one after another', [1, 1]),
    'tail.share': guessed(0.01, `${TAIL}; how many: our guess`, [0.002, 0.03]),
    'tail.factor': guessed(8, `${TAIL}; how long: our guess`, [3, 100]),
    'effect.share': guessed(0.5, 'our guess: half of a service time goes before the effect', [0.2, 0.9]),
    'loss.requestShare': guessed(1e-5, OUR_GUESS, [0, 1e-4]),
    'loss.replyShare': guessed(1e-5, OUR_GUESS, [0, 1e-4]),
    'loss.silentShare': guessed(0.5, 'our guess: the other half are connections that break at once', [0, 1]),
    'contention.holdShare': documented(0, ETAG),
    'contention.waitMaxMs': none(NOT_HERE),
    'contention.writesPerSecond': unlimited(NOT_HERE),
    'contention.burstWrites': none(NOT_HERE),
    'partition.unitsPerSecond': documented(2_000, `${TARGETS}. A target, no limit: ${OVER_TARGET}`, [2_000, 16_000]),
    'partition.burstSeconds': guessed(1, 'our guess: what a partition takes at once after a rest', [0.1, 5]),
    'partition.serialMsPerEntity': measured(0.06, `the inverse of ${OVER_TARGET}`, [0, 0.5]),
    'account.unitsPerSecond': documented(20_000, TARGETS),
    'account.burstSeconds': guessed(1, 'as for a partition', [0.1, 5]),
    'unit.kib': guessed(
      64,
      `${TARGETS}: what larger entities count is not said. 1: each KiB as one; 1,024: each entity as one; between them, our guess`,
      [1, 1_024],
    ),
    'throttle.replyMs': guessed(2, OUR_GUESS, [1, 10]),
    'ramp.isCold': none(NOT_HERE),
    'ramp.startPerSecond': unlimited(NOT_HERE),
    'ramp.growth': none(NOT_HERE),
    'ramp.everyMs': none(NOT_HERE),
    'ramp.waitMaxMs': none(NOT_HERE),
    'range.count': none('partitions are never split'),
    'range.writesPerSecond': unlimited('as partition.unitsPerSecond'),
    'range.waitMaxMs': none(NOT_HERE),
    'range.splitAfterMs': none(NOT_HERE),
    'sdk.timeoutMs': guessed(60_000, 'the SDK has none; ours, so that every wait ends', [60_000, 60_000]),
    'sdk.readRetriesMax': documented(3, SDK),
    'sdk.writeRetriesMax': documented(3, SDK),
    'sdk.retryBaseMs': documented(1_000, SDK),
    'sdk.retryFactor': documented(2, SDK),
    'sdk.retryDelayMaxMs': documented(64_000, SDK),
  },
};

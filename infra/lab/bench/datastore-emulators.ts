// Measures the embedded Datastore emulator and Google's Firestore emulator side by side, each in a process of its own, both warmed up:
// single puts, single gets, and commits of 500 entities. Prints a table. Not a test: on a busy machine the figures move.
import { randomBytes } from 'node:crypto';
import { DatastoreClient } from '@google-cloud/datastore/build/src/v1/index.js';
import { GoogleAuth, googleAuthLibrary, grpc } from 'google-gax';
import { median } from '../../../shared/lab/kit/median.ts';
import { startEmbeddedDatastore } from '../../emulators/embedded.ts';
import type { Emulator } from '../../emulators/emulator.ts';
import { findGoogleEmulator, startGoogleEmulator } from '../../emulators/google.ts';
import { MACHINE_CLOCKS, rateOf, takeTurn } from './contest/turn.ts';

const PROJECT_ID = 'measure';
const CALLERS = 32;
const BATCH = 500;
/** The JVM compiles for its first ten thousand operations or so. */
const WARM_UP_MS = 12_000;
const ROUND_MS = 5_000;
const ROUNDS = 3;
const CALL_TIMEOUT_MS = 30_000;

type Work = (client: DatastoreClient, call: number) => Promise<number>;

/** Random text is made once: making it anew for each entity would cost as much as the call. */
const TEXTS = Array.from({ length: 256 }, () => randomBytes(50).toString('hex'));
const properties = (seed: number) =>
  Object.fromEntries(
    ['a', 'b', 'c', 'd', 'e'].map((name, place) => [
      name,
      { stringValue: TEXTS[(seed * 7 + place) % TEXTS.length]!, excludeFromIndexes: true },
    ]),
  );
const keyOf = (kind: string, id: number) => ({
  partitionId: { projectId: PROJECT_ID },
  path: [{ kind, name: `key-${id}` }],
});
const ONCE = { retry: null, timeout: CALL_TIMEOUT_MS };

async function commit(client: DatastoreClient, kind: string, ids: readonly number[], seed = 0): Promise<number> {
  const mutations = ids.map((id) => ({ upsert: { key: keyOf(kind, id), properties: properties(id + seed) } }));
  await client.commit({ projectId: PROJECT_ID, mode: 'NON_TRANSACTIONAL', mutations }, ONCE);
  return ids.length;
}

const WORK: Readonly<Record<string, { readonly callers: number; readonly work: Work }>> = {
  'single puts': { callers: CALLERS, work: (client, call) => commit(client, 'Put', [call % 20_000], call) },
  'single gets': {
    callers: CALLERS,
    async work(client, call) {
      const [{ found }] = await client.lookup({ projectId: PROJECT_ID, keys: [keyOf('Get', call % BATCH)] }, ONCE);
      return found?.length ?? 0;
    },
  },
  [`commits of ${BATCH}`]: {
    callers: 2,
    work: (client, call) =>
      commit(
        client,
        'Batch',
        Array.from({ length: BATCH }, (_, place) => (call % 20) * BATCH + place),
        call,
      ),
  },
};

/** Entities a second. */
async function rate(client: DatastoreClient, { callers, work }: { callers: number; work: Work }, turnMs: number) {
  let calls = 0;
  return rateOf(await takeTurn(() => work(client, (calls += 1)), { inFlight: callers, turnMs }, MACHINE_CLOCKS));
}

function clientOf({ endpoint }: Emulator): DatastoreClient {
  const { hostname, port } = new URL(endpoint);
  return new DatastoreClient({
    projectId: PROJECT_ID,
    universeDomain: 'googleapis.com',
    apiEndpoint: hostname,
    port: Number(port),
    auth: new GoogleAuth({ authClient: new googleAuthLibrary.PassThroughClient() }),
    sslCreds: grpc.credentials.createInsecure(),
  });
}

async function start(): Promise<Emulator[]> {
  const found = await findGoogleEmulator('firestore', { ...process.env, DATASTORE_EMULATOR_HOST: '' });
  const embedded = await startEmbeddedDatastore({ inProcess: false });
  if (found.found) return [embedded, await startGoogleEmulator(found)];
  console.log(`${found.why}; measuring the embedded one alone`);
  return [embedded];
}

const emulators = await start();
try {
  const clients = emulators.map((emulator) => ({ name: emulator.name, client: clientOf(emulator) }));
  const figures: { emulator: string; work: string; rates: number[] }[] = [];
  for (const { name, client } of clients) {
    await commit(
      client,
      'Get',
      Array.from({ length: BATCH }, (_, id) => id),
    );
    for (const each of Object.values(WORK)) await rate(client, each, WARM_UP_MS / Object.keys(WORK).length);
    for (const work of Object.keys(WORK)) figures.push({ emulator: name, work, rates: [] });
  }
  // Rounds alternate, so that the machine's other load meets both.
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { work, emulator, rates } of figures) {
      const { client } = clients.find(({ name }) => name === emulator)!;
      rates.push(await rate(client, WORK[work]!, ROUND_MS));
    }
  }
  console.table(
    figures.map(({ emulator, work, rates }) => ({
      emulator,
      work,
      'entities/s (median)': Math.round(median(rates)),
      rounds: rates.map((each) => Math.round(each)).join(' '),
    })),
  );
  await Promise.all(clients.map(({ client }) => client.close()));
} finally {
  await Promise.all(emulators.map((emulator) => emulator.close()));
}

// Which code the service gives a refused base version is not documented. A store does as well where
// it is ABORTED as where it is FAILED_PRECONDITION, which the emulators say.
import { Datastore } from '@google-cloud/datastore';
import { expect, inject, test } from 'vitest';
import { type DatastoreCalls, datastoreCalls } from '../../../shared/drivers/datastore/client.ts';
import { driverOn } from '../../../shared/drivers/datastore/driver.ts';
import { CODE, StatusError } from '../../../shared/drivers/datastore/grpc/status.ts';
import { EMULATOR_LIMITS } from '../../../shared/drivers/datastore/mapping.ts';
import { sdkCalls } from '../../../shared/drivers/datastore/sdk-client.ts';
import { openStore } from '../../../shared/store/index.ts';
import { type Transport, TRANSPORTS } from '../emulated.ts';
import { closedAfterEach } from '../../support/opened.ts';

const opened = closedAfterEach();

/** The emulator's calls, its FAILED_PRECONDITION being this code; each commit waits for `gate`. */
function refusingWith(code: number, transport: Transport, gate: () => Promise<void>): DatastoreCalls {
  const endpoint = inject('embeddedEndpoint');
  const calls =
    transport === 'own'
      ? datastoreCalls({ projectId: 'aborted', endpoint })
      : sdkCalls(new Datastore({ projectId: 'aborted', apiEndpoint: endpoint }));
  const commit: DatastoreCalls['commit'] = async (mutations, timeoutMs) => {
    await gate();
    try {
      return await calls.commit(mutations, timeoutMs);
    } catch (error) {
      const isRefused = error instanceof StatusError && error.code === CODE.FAILED_PRECONDITION;
      throw isRefused ? new StatusError(code, error.message, { isVerdict: true }) : error;
    }
  };
  return { ...calls, commit };
}

/** Two processes on one database, whose commits wait from `hold` on until both have one. */
function processesOn(code: number, transport: Transport) {
  const space = { projectId: 'aborted', databaseId: '', namespace: `code${code}${transport}`, kind: 'Container' };
  const met = Promise.withResolvers<void>();
  let waiting: number | undefined;
  const gate = async (): Promise<void> => {
    if (waiting === undefined) return;
    waiting += 1;
    if (waiting === 2) met.resolve();
    await met.promise;
  };
  const open = () =>
    opened(
      openStore({
        driver: driverOn(refusingWith(code, transport, gate), { space, limits: EMULATOR_LIMITS, doubtful: true }),
      }),
    );
  return { stores: [open(), open()], hold: () => (waiting = 0) };
}

test.each(
  [CODE.FAILED_PRECONDITION, CODE.ABORTED].flatMap((code) => TRANSPORTS.map((transport) => [code, transport] as const)),
)(
  'of two processes that update one record one is refused, and neither is left in doubt (code %i, transport %s)',
  async (code, transport) => {
    const { stores, hold } = processesOn(code, transport);
    const tables = await Promise.all(stores.map((store) => store.table<number>('t')));
    for (const table of tables) await table.update('hot', add);
    hold();
    await Promise.all(tables.map((table) => table.update('hot', add)));
    expect(await tables[0]!.get('hot')).toMatchObject({ value: 4 });
    const stats = tables.map((table) => table.stats());
    expect(stats.map(({ unknownOutcomes }) => unknownOutcomes)).toEqual([0, 0]);
    expect(stats.reduce((sum, { conflicts }) => sum + conflicts, 0)).toBeGreaterThan(0);
  },
);

function add(current: { readonly value: number } | undefined): number {
  return (current?.value ?? 0) + 1;
}

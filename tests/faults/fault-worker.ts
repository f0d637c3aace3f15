// A process of clients on a real driver: does what its parent asks, in lines of JSON.
// Lines are written at once: the parent hears them after any SIGKILL.
import { readSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { AZURITE_ACCOUNT_KEY, AZURITE_ACCOUNT_NAME } from '../../infra/emulators/azurite.ts';
import { azureTablesDriver } from '../../shared/drivers/azure-tables.ts';
import { checked } from '../../shared/drivers/checked.ts';
import { datastoreDriver } from '../../shared/drivers/datastore.ts';
import {
  DELETE,
  type Driver,
  type Entry,
  openStore,
  type ScanOptions,
  StoreError,
  type Table,
} from '../../shared/store/index.ts';
import { TABLE } from '../simulation/scenario.ts';
import { CHANGE_FD, type Asked, type Said, type Where } from './worker-lines.ts';

const where = JSON.parse(process.argv[2]!) as Where;
// Small containers, kept as they are: a few hundred records split, and vacuums find what to merge.
const driver = checked(driverOf());
Object.defineProperty(driver, 'limits', { value: { ...driver.limits, entityBytesMax: where.entityBytesMax } });
const { cacheBytesMax, timeoutMs } = where;
const store = openStore({ driver, compression: 'none', cacheBytesMax, timeoutMs });
let table: Table<unknown> | undefined;

for await (const line of createInterface(process.stdin)) void answer(JSON.parse(line) as Asked);
await store.close();

function driverOf(): Driver {
  const { driver: name, port, space } = where;
  const endpoint = `http://127.0.0.1:${port}`;
  if (name === 'datastore') return datastoreDriver({ projectId: space, namespace: '', endpoint });
  return azureTablesDriver({
    endpoint: `${endpoint}/${AZURITE_ACCOUNT_NAME}`,
    tableName: space,
    credential: { name: AZURITE_ACCOUNT_NAME, key: AZURITE_ACCOUNT_KEY },
    allowInsecureConnection: true,
  });
}

function say(line: Said): void {
  const bytes = Buffer.from(`${JSON.stringify(line, ownErrors)}\n`);
  for (let at = 0; at < bytes.length;) at += writeSync(1, bytes, at);
}

function ownErrors(_: string, value: unknown): unknown {
  return value instanceof Error && !(value instanceof StoreError) ? { name: value.name, stack: value.stack } : value;
}

async function answer({ id, method, args }: Asked): Promise<void> {
  try {
    say({ id, value: await run(id, method, args) });
  } catch (error) {
    say(
      error instanceof StoreError
        ? { id, error }
        : { id, broken: error instanceof Error ? error.stack! : String(error) },
    );
  }
}

async function run(id: number, method: Asked['method'], args: Asked['args']): Promise<unknown> {
  switch (method) {
    case 'table':
      table = await store.table(TABLE, args[1] as object);
      return undefined;
    case 'tables':
    case 'drop':
    case 'vacuum':
    case 'verify':
      return (store[method] as (...all: unknown[]) => Promise<unknown>)(...args);
    case 'update':
      return table!.update(args[0] as string, (current) => changed(id, current), args[1] as object);
    case 'scan':
      return scanned(args[0] as ScanOptions);
    case 'get':
    case 'put':
    case 'delete':
    case 'getMany':
    case 'putMany':
    case 'deleteMany':
    case 'batch':
    case 'clear':
      return (table![method] as (...all: unknown[]) => Promise<unknown>).call(table, ...args);
    default:
      return method satisfies never;
  }
}

async function scanned(options: ScanOptions): Promise<unknown> {
  const scan = table!.scan(options);
  return { entries: await Array.fromAsync(scan), cursor: scan.cursor };
}

/** The parent decides, and notes each try before it can be written. */
function changed(id: number, current: Entry<unknown> | undefined): unknown {
  say({ id, isChange: true, value: current });
  let text = '';
  const bytes = Buffer.alloc(65_536);
  while (!text.endsWith('\n')) {
    const count = readSync(CHANGE_FD, bytes);
    if (count === 0) process.exit(1);
    text += bytes.toString('utf8', 0, count);
  }
  const { value, isThrown, isDelete } = JSON.parse(text) as { value?: unknown; isThrown?: boolean; isDelete?: boolean };
  if (isThrown) throw new Error('the function of an update threw');
  return isDelete ? DELETE : value;
}

// Replays to the drivers what services once answered. `stowage doctor --record` writes such files
// into `recorded`; those that a real cloud answered are worth most.
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  datastoreRequestText,
  type Exchange,
  recordedPrefix,
  type Recording,
  tableRequestText,
} from '../../infra/cli/doctor/recording.ts';
import { tableCalls } from '../../shared/drivers/azure-tables/table-calls.ts';
import { driverOn as tablesOn } from '../../shared/drivers/azure-tables/azure-driver.ts';
import type { HttpReply, HttpRequest } from '../../shared/drivers/azure-tables/table-service.ts';
import { RECORDED, brokenAmong } from '../../shared/drivers/conformance/run.ts';
import { datastoreCalls } from '../../shared/drivers/datastore/datastore-calls.ts';
import { driverOn as datastoreOn } from '../../shared/drivers/datastore/datastore-driver.ts';
import { StatusError } from '../../shared/drivers/datastore/grpc/call.ts';
import { LIMITS } from '../../shared/drivers/datastore/entity-mapping.ts';
import type { Driver } from '../../shared/store/contract/driver.ts';

const FOLDER = path.join(import.meta.dirname, 'recorded');
const files = globSync('*.json', { cwd: FOLDER });

function read(file: string): Recording {
  return JSON.parse(readFileSync(path.join(FOLDER, file), 'utf8')) as Recording;
}

/** Answers a request by the first reply to it that was not given yet. */
function replaying(exchanges: readonly Exchange[]) {
  const left = [...exchanges];
  const answer = (request: string): Record<string, unknown> => {
    const at = left.findIndex((one) => one.request === request);
    if (at === -1) throw new Error(`nothing was recorded for ${request}`);
    return JSON.parse(left.splice(at, 1)[0]!.reply) as Record<string, unknown>;
  };
  return { left, answer };
}

type Answer = ReturnType<typeof replaying>['answer'];

function tablesFrom({ space }: Recording, answer: Answer): Driver {
  const { endpoint = '', tableName = '' } = space;
  const send = async (asked: HttpRequest): Promise<HttpReply> => {
    const { body, ...reply } = answer(tableRequestText(asked)) as unknown as Omit<HttpReply, 'body'> & { body: string };
    return { ...reply, body: Buffer.from(body), isRequestWritten: true };
  };
  return tablesOn(
    tableCalls({ endpoint, tableName }, (client) => ({ ...client, send })),
    false,
  );
}

function datastoreFrom({ space }: Recording, answer: Answer): Driver {
  const { projectId = '', databaseId = '', namespace = '', kind = '' } = space;
  const unary = async (asked: Parameters<typeof datastoreRequestText>[0]): Promise<Buffer> => {
    const { message, status } = answer(datastoreRequestText(asked)) as { message?: string; status?: StatusError };
    if (status !== undefined) throw new StatusError(status.code, status.message, status);
    return Buffer.from(message!, 'base64');
  };
  const options = { projectId, databaseId, endpoint: 'http://127.0.0.1:1' };
  const calls = datastoreCalls(options, (channel) => ({ close: () => channel.close(), unary }));
  return datastoreOn(calls, { space: { projectId, databaseId, namespace, kind }, limits: LIMITS, doubtful: false });
}

test('there is a recording of each provider', () => {
  expect(new Set(files.map((file) => read(file).provider))).toEqual(new Set(['azure-tables', 'datastore']));
});

test('a request is kept without what authorizes it', () => {
  const headers = ['x-ms-date', 'now', 'Authorization', 'SharedKeyLite a:b', 'If-Match', 'v'];
  const text = (query: string) => tableRequestText({ method: 'GET', target: `/t(RowKey='a')${query}`, headers });
  expect(text('?sv=2019-02-02&se=2027&sp=raud&sig=c%3D&$select=RowKey')).toBe(
    "GET /t(RowKey='a')?$select=RowKey\nIf-Match: v\n\n",
  );
  expect(text('?sv=2019-02-02&sig=c%3D')).toBe("GET /t(RowKey='a')\nIf-Match: v\n\n");
});

describe.each(files)('%s', (file) => {
  const recording = read(file);
  const isAzure = recording.provider === 'azure-tables';

  test('its replies keep every promise, and each is used', async () => {
    const { left, answer } = replaying(recording.exchanges);
    const driver = isAzure ? tablesFrom(recording, answer) : datastoreFrom(recording, answer);
    const around = { isAtomic: isAzure, open: () => driver };
    const broken = await brokenAmong(RECORDED, driver, around, { prefixOf: recordedPrefix });
    await driver.close();
    expect({ broken, left }).toEqual({ broken: [], left: [] });
  });

  test('the file holds no credential', () => {
    expect(JSON.stringify(recording)).not.toMatch(/authorization|bearer|sharedkey|[?&]sig=/i);
  });
});

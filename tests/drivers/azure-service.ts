// A server that stands for Azure's table service, and the texts of its replies.
import { AzureNamedKeyCredential, TableClient } from '@azure/data-tables';
import { type TableCalls, tableCalls } from '../../shared/drivers/azure-tables/table-calls.ts';
import { sdkCalls } from '../../shared/drivers/azure-tables/table-sdk.ts';
import { azureAt, type Transport } from './emulated.ts';
import { azureText, type RawRequest, rawServer } from './raw-server.ts';
import type { closedAfterEach } from '../support/opened.ts';
import { idsOfOneLane, insert, part } from '../../shared/drivers/conformance/check-calls.ts';
import type { Driver, Write } from '../../shared/store/contract/driver.ts';

export const JSON_TYPE = { 'Content-Type': 'application/json' };
export const BATCH_TYPE = { 'Content-Type': 'multipart/mixed; boundary=out' };
export const ETAG = { ETag: 'W/"datetime\'2026\'"' };

export function odataError(code: string): string {
  return JSON.stringify({ 'odata.error': { code, message: { lang: 'en', value: 'said by a test' } } });
}

/** The service's reply that tells of an error. */
export function errorText(status: number, code: string, more: Readonly<Record<string, string>> = {}): string {
  return azureText(status, { ...JSON_TYPE, ...more }, odataError(code));
}

/** A member of a transaction's reply. */
export function member(status: number, head = 'ETag: v\r\n', body = ''): string {
  return `--in\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\nHTTP/1.1 ${status} Whatever\r\n${head}\r\n${body}\r\n`;
}

export function multipart(...members: readonly string[]): string {
  return `--out\r\nContent-Type: multipart/mixed; boundary=in\r\n\r\n${members.join('')}--in--\r\n--out--\r\n`;
}

/** Two inserts that fit into one request. */
export function twoWrites(driver: Driver): Write[] {
  return idsOfOneLane(driver, 'x', 2).map((id) => insert(id, [part('h', 'x')]));
}

/** Drivers of this transport, each with a server of its own that answers so. */
export function servedOver(transport: Transport, opened: ReturnType<typeof closedAfterEach>) {
  return async (answer: (request: RawRequest) => void) => {
    const server = opened(await rawServer(answer));
    const credential = new AzureNamedKeyCredential('account', 'a2V5');
    const driver = opened(azureAt(transport, `http://127.0.0.1:${server.port}`, 'table', credential));
    return { driver, server };
  };
}

/** What is below a driver of this transport, with a server on this port. */
export function callsOver(transport: Transport, port: number): TableCalls {
  const [endpoint, tableName] = [`http://127.0.0.1:${port}/account?sig=s`, 'table'] as const;
  if (transport === 'own') return tableCalls({ endpoint, tableName });
  return sdkCalls(new TableClient(endpoint, tableName, { allowInsecureConnection: true }));
}

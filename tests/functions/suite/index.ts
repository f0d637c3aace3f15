// The HTTP suite: everything that holds for the function `records`. The app plays all of it, a host
// the part by which hosts differ.
import type { Client } from './client.ts';
import { describeBatches } from './batches.ts';
import { describeConditions } from './conditions.ts';
import { describePatches } from './patches.ts';
import { describePaths } from './paths.ts';
import { describeRoles } from './roles.ts';
import { describeScans } from './scans.ts';
import { describeTables } from './tables.ts';
import { describeTransport } from './transport.ts';
import { describeValues } from './values.ts';

export function describeRecords(client: Client): void {
  // First: they list all tables, and the others make many.
  describeRoles(client);
  describeTables(client);
  describeValues(client);
  describePatches(client);
  describeConditions(client);
  describeBatches(client);
  describeScans(client);
  describeHost(client);
}

export function describeHost(client: Client): void {
  describePaths(client);
  describeTransport(client);
}

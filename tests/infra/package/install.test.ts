// `npm ci` leaves out dependencies that Azurite's table service and the Serverless Framework never
// load here.
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

interface Locked {
  readonly name?: string;
}

const lock = JSON.parse(await readFile(new URL('../../../package-lock.json', import.meta.url), 'utf8')) as {
  packages: Record<string, Locked>;
};
const packages = Object.entries(lock.packages);

test.each([
  ['telemetry of Azure', /\/(applicationinsights|@azure\/monitor-opentelemetry)$/],
  ['drivers of SQL databases', /\/(mysql2|sequelize|tedious)$/],
  ['the SDK of a third cloud', /\/@aws-sdk\/[a-z0-9-]+$/],
])('%s is not installed', (_, path) => {
  const real = packages.filter(([place, { name }]) => path.test(place) && name !== '@favware/skip-dependency');
  expect(real.map(([place]) => place)).toEqual([]);
});

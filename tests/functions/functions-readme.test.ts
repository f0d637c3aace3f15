// functions/README.md: its table of routes is made of the routes, and its table of errors is the
// one that answers are made from. Run this file with `-u` to write the first.
import { readFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { expect, test } from 'vitest';
import { PROBLEMS } from '../../functions/http/problem.ts';
import { shownPath } from '../../functions/http/route.ts';
import { appsOn } from './apps.ts';

const file = new URL('../../functions/README.md', import.meta.url);
const text = readFileSync(file, 'utf8');

/** One row for each route; `/record?key=` stands below the table. */
function routeTable(): string {
  const all = Object.values(appsOn({})).flatMap((app) => app.routes);
  const routes = all.filter((route) => !shownPath(route).endsWith('/record'));
  const rows = new Set(
    routes.map((route) => {
      const query = Object.keys(route.query?.shape ?? {}).map((name) => `\`${name}\``);
      return `| \`${route.method} ${shownPath(route)}\` | ${route.role ?? 'none'} | ${query.join(' ')} | ${route.summary} |`;
    }),
  );
  return ['| route | role | query | what |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

test('the table of routes has an entry for each route of each function', async () => {
  const [before, after] = text.split(/\| route[^]*?\n(?=\n)/) as [string, string];
  const options = { ...(await resolveConfig(file)), filepath: file.pathname };
  await expect(await format(`${before}${routeTable()}\n${after}`, options)).toMatchFileSnapshot(file.pathname);
});

test('the table of errors has each code once, with its status and whether it may be sent again', () => {
  const rows = text.matchAll(/^\| `(\w+)` +\| +(\d{3}) \| (yes|no) /gm);
  const told = [...rows].map(([, code, status, again]) => [code, Number(status), again === 'yes']);
  expect(told).toEqual(Object.entries(PROBLEMS).map(([code, { status, retryable }]) => [code, status, retryable]));
});

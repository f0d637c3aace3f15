// functions/README.md tells the truth about errors: its table is the one that answers are made
// from.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PROBLEMS } from '../../functions/http/problem.ts';

const text = readFileSync(new URL('../../functions/README.md', import.meta.url), 'utf8');

test('the table of errors has each code once, with its status and whether it may be sent again', () => {
  const rows = text.matchAll(/^\| `(\w+)` +\| +(\d{3}) \| (yes|no) /gm);
  const told = [...rows].map(([, code, status, again]) => [code, Number(status), again === 'yes']);
  expect(told).toEqual(Object.entries(PROBLEMS).map(([code, { status, retryable }]) => [code, status, retryable]));
});

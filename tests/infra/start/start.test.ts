// The README's first command, in small: the comparison of both clouds on this machine, to its end.
import { expect, test } from 'vitest';
import { EXIT } from '../../../infra/cli/exit.ts';
import { npmStart } from './npm-start.ts';

test('npm start compares both clouds, leaves a report, and nothing that runs', { timeout: 180_000 }, async () => {
  const { exit, running, report } = await npmStart('--workloads', 'load', '--repetitions', '1');
  expect({ exit: await exit, running: running() }).toEqual({ exit: [EXIT.ok, null], running: [] });
  const { endedEarly, cells, failures, leftovers } = await report();
  expect({ endedEarly, failures, leftovers }).toEqual({ endedEarly: null, failures: [], leftovers: [] });
  const names = cells.map(({ provider, layout }) => `${provider} ${layout}`);
  expect(names.toSorted()).toEqual(
    ['azure-tables', 'datastore'].flatMap((cloud) =>
      ['batch', 'container', 'record'].map((each) => `${cloud} ${each}`),
    ),
  );
  expect(cells.every(({ runs }) => runs.length === 1 && Object.keys(runs[0]!.errors).length === 0)).toBe(true);
});

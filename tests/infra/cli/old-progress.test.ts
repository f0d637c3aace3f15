// The progress of a comparison, as a terminal shows it.
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { showProgress } from '../../../infra/cli/old-progress.ts';
import { cellsOf, DEFAULT_PLAN } from '../../../shared/compare/plan/old-plan.ts';

const [cell] = cellsOf(DEFAULT_PLAN, ['datastore'], 'r1');

test('never shows more cells than there are, though repeated loads come on top of the plan', () => {
  const terminal = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY: true, columns: 120 });
  const progress = showProgress(terminal as unknown as NodeJS.WriteStream);
  progress.show({ done: 0, total: 66, cell: cell! });
  progress.show({ done: 70, total: 71, cell: cell! });
  progress.end();
  const shown = String(terminal.read()).match(/\d+\/\d+ cells/g);
  expect(shown?.at(0)).toBe('0/66 cells');
  expect(shown?.at(-1)).toBe('70/71 cells');
});

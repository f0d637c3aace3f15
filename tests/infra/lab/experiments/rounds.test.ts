// Rounds alternate. A failure stands in its place. An interrupted run keeps its results.
import { expect, test } from 'vitest';
import { alternatingRuns, type Variant } from '../../../../infra/lab/experiments/rounds.ts';

const going = { signal: new AbortController().signal };

function variant(row: string, run: Variant['run'], columns: readonly string[] = ['now']): Variant {
  return { row, columns, run };
}

test('every variant runs once a round, each round begins with another, and warm-ups do not count', async () => {
  const log: string[] = [];
  const noting = (row: string): Variant =>
    variant(row, async (round) => {
      log.push(`${row}${round}`);
      return { now: round };
    });
  const cells = await alternatingRuns(going, { rounds: 2 }, [noting('a'), noting('b'), noting('c')]);
  expect(log.join(' ')).toBe('a0 b0 c0 b1 c1 a1 c2 a2 b2');
  expect(cells.get('a')).toEqual({ now: { runs: [1, 2] } });
});

test('a variant that fails shows as such in each of its columns, runs no more, and the rest goes on', async () => {
  let tries = 0;
  const fail = async (): Promise<never> => {
    tries += 1;
    throw new Error('no such table');
  };
  const failing = variant('bad', fail, ['ms', 'cpu']);
  const cells = await alternatingRuns(going, { rounds: 3 }, [failing, variant('good', async () => ({ now: 7 }))]);
  expect(cells.get('bad')).toEqual({ ms: { failed: 'no such table' }, cpu: { failed: 'no such table' } });
  expect(cells.get('good')).toEqual({ now: { runs: [7, 7, 7] } });
  expect(tries).toBe(1);
});

test('variants of one row fill it together', async () => {
  const cells = await alternatingRuns(going, { rounds: 1 }, [
    variant('row', async () => ({ one: 1 }), ['one']),
    variant('row', async () => ({ two: 2 }), ['two']),
  ]);
  expect(cells.get('row')).toEqual({ one: { runs: [1] }, two: { runs: [2] } });
});

test('after the signal nothing starts: what was measured stays, the rest is missing with the reason', async () => {
  const stop = new AbortController();
  const cells = await alternatingRuns({ signal: stop.signal }, { rounds: 5, warmUps: 0 }, [
    variant('first', async () => {
      stop.abort(new Error('its time was over'));
      return { now: 1 };
    }),
    variant('second', async () => ({ now: 2 })),
  ]);
  expect(cells.get('first')).toEqual({ now: { runs: [1] } });
  expect(cells.get('second')).toEqual({ now: { missing: 'its time was over' } });
});

test('a run that hangs fails its row after a while, its signal with it, and the rest goes on', async () => {
  let heard: AbortSignal | undefined;
  const cells = await alternatingRuns(going, { rounds: 1, warmUps: 0, runMaxMs: 1 }, [
    variant('hangs', (_, signal) => {
      heard = signal;
      return new Promise(() => {});
    }),
    // At once: no time of the machine ends it.
    variant('good', () => ({ now: 7 })),
  ]);
  expect(cells.get('hangs')).toEqual({ now: { failed: 'no end within 1 ms' } });
  expect(heard!.aborted).toBe(true);
  expect(cells.get('good')).toEqual({ now: { runs: [7] } });
});

test.each([
  ['ends is no failure', () => Promise.reject(new Error('stopped'))],
  ['finds hanging is not waited for', () => new Promise<never>(() => {})],
])('work that the signal %s', async (_what, end) => {
  const stop = new AbortController();
  const run = (): Promise<never> => {
    queueMicrotask(() => stop.abort(new Error('ended by SIGINT')));
    return end();
  };
  const cells = await alternatingRuns({ signal: stop.signal }, { rounds: 1, warmUps: 0 }, [variant('row', run)]);
  expect(cells.get('row')).toEqual({ now: { missing: 'ended by SIGINT' } });
});

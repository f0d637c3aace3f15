// A row of `npm run scale`, played in virtual time.
import { expect, test } from 'vitest';
import { play } from '../../shared/lab/scale/play-row.ts';
import { EVEN_PROFILE, type Row } from '../../shared/lab/scale/scale-rows.ts';

const ROW: Row = { work: 'put of one record', instances: 2, callers: 1, records: 10 };

test.each(['plain', 'conditional', 'container'] as const)(
  'a row of which no call ends within the window has figures of 0: %s',
  async (layout) => {
    const times = { warmUpMs: 0, windowMs: 0.001 };
    const played = await play({ row: ROW, layout, profile: EVEN_PROFILE, seed: 1, times });
    expect(played).toMatchObject({ perSecond: 0, requests: 0, writes: 0, slowestCaller: 0 });
  },
);

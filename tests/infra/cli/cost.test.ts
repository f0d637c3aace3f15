// `stowage cost`: what it takes, prints and refuses.
import { describe, expect, test } from 'vitest';
import { COST, costJson, costQuestionOf, costText } from '../../../infra/cli/cost.ts';
import { commandLineOf } from '../../../infra/cli/command-options.ts';
import { USERS_LAYOUTS } from '../../../shared/lab/kit/dimensions.ts';
import { runCommand, STOWAGE } from './run-command.ts';

const question = (line: string) => costQuestionOf(commandLineOf(COST, line === '' ? [] : line.split(' ')));

const TABLE = '--records 1e6 --bytes 500';

describe('stowage cost', () => {
  test.each([
    ['', '--records is missing'],
    ['--records 1M --bytes 500', '--records takes a whole number from 1 to 1000000000000, not "1M"'],
    ['--records 10 --bytes 500kB', '--bytes takes a whole number from 1 to 524288'],
    [`${TABLE} --region mars`, '--region is one of us-central1, nam5, eastus, not "mars"'],
    [`${TABLE} extra`, 'it takes options alone, not "extra"'],
  ])('%j is refused with what would be right', (line, message) => {
    expect(() => question(line)).toThrow(expect.objectContaining({ name: 'UsageError' }));
    expect(() => question(line)).toThrow(message);
  });
});

describe('its table', () => {
  const line = `${TABLE} --reads-per-day 1e6 --writes-per-day 1e5`;

  test('has every line of the bill, totals, the free tier apart, and what it rests on', () => {
    const text = costText(question(line));
    // 30 x 1,000,000 x 0.03 / 100,000 = 9.00; 30 x 100,000 x 0.09 / 100,000 = 2.70; in containers a
    // read a get, and none a put of one instance.
    expect(text).toMatch(/operations: reads +9\.00 +9\.00 +9\.00\n +operations: writes +2\.70 +2\.70 +2\.70\n/);
    expect(text).toMatch(/storage [^]*compute: calls [^]*egress [^]*total [^]*free tiers take off [^]*to pay /);
    expect(costText(question(`${line} --region nam5`))).toMatch(/Datastore, nam5[^]*Azure Table Storage, eastus/);
    expect(text).toContain('list prices as read in 2026-11');
    expect(text).toContain('https://cloud.google.com/datastore/pricing (not verified on that page)\n');
  });
});

test('its JSON is the same, by the lines of each bill, with prices and sources', async () => {
  const asked = `${TABLE} --reads-per-day 1e6 --region nam5 --json`;
  const { stdout } = await runCommand([STOWAGE, 'cost', ...asked.split(' ')]);
  const told = costJson(question(asked));
  expect(JSON.parse(stdout)).toEqual(told);
  const amount = expect.any(Number) as number;
  const price = { dollars: amount, per: amount, source: expect.stringMatching(/^https:/) as string };
  const line = { meter: 'reads', quantity: amount, dollars: amount, freeDollars: amount };
  expect(told).toMatchObject({
    date: expect.any(String) as string,
    estimates: ['nam5', 'eastus'].map((region) => ({
      region,
      bills: Object.fromEntries(
        USERS_LAYOUTS.map((layout) => [layout, { lines: expect.arrayContaining([line]) as object }]),
      ),
      prices: { reads: price },
    })),
    assumptions: expect.any(Array) as string[],
  });
});

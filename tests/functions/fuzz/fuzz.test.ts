// A short run of the fuzzer. `npm run fuzz` is the long one.
import { expect, test } from 'vitest';
import { fuzzed } from './fuzz.ts';

test('whatever is asked has an answer that can be read, and no unexpected failure', async () => {
  const statuses = new Map<number, number>();
  for await (const { request, status, faults } of fuzzed({ seed: 1, requests: 600 })) {
    expect(faults, `${request.method} ${request.target.slice(0, 100)}`).toEqual([]);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  // Each is met so often that the requests reach what they are to try.
  for (const status of [200, 204, 400, 404, 415]) expect(statuses.get(status), `${status}`).toBeGreaterThan(5);
});

import { expect, test } from 'vitest';
import { networkWords } from '../../../shared/lab/report/network.ts';

test('a line says what the emulators waited for, and that no cloud was asked', () => {
  const roundTrips = [
    { provider: 'datastore', readMs: 9, commitMs: 31 },
    { provider: 'azure-tables', readMs: 5, commitMs: 9.5 },
  ] as const;
  expect(networkWords({ name: 'cloud', roundTrips: [...roundTrips] })).toBe(
    'emulators behind a network of 9 ms a read and 31 ms a commit (Datastore), 5 ms a read and 9.5 ms a commit (Azure); no cloud was asked',
  );
  expect(networkWords(null)).toBe('emulators without a network; no cloud was asked');
});

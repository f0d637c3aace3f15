// What an experiment opens: at its first use, once, and closed with it.
import { afterAll, expect, test } from 'vitest';
import { Backends } from '../../../../infra/lab/experiments/backends.ts';
import { startEmulated } from './emulated.ts';

const emulated = await startEmulated();
afterAll(() => emulated.close());

function counting(broken?: 'datastore') {
  const context = emulated.context(undefined, broken);
  const asked: string[] = [];
  const backends = new Backends({
    emulator: (provider) => {
      asked.push(provider);
      return context.emulator(provider);
    },
  });
  return { backends, asked };
}

test('an emulator is asked for at the first use, once, and not for its name alone', async () => {
  const { backends, asked } = counting();
  expect(await backends.where('azure-tables')).toBe('Azure Table Storage');
  expect(asked).toEqual([]);
  const [one, other] = await Promise.all([backends.plain('azure-tables'), backends.plain('azure-tables')]);
  expect(one).toBe(other);
  await backends.store('azure-tables');
  expect(asked).toEqual(['azure-tables']);
  expect(await backends.where('azure-tables')).toBe('azure-tables emulated');
  await backends.close();
});

test('one that does not start rejects whoever needs it, has a name, and closes without an error', async () => {
  const { backends } = counting('datastore');
  await expect(backends.store('datastore')).rejects.toThrow('datastore does not start');
  expect(await backends.where('datastore')).toBe('Google Cloud Datastore');
  await backends.close();
});

test('a closed store takes no more', async () => {
  const { backends } = counting();
  const { store } = await backends.store('datastore');
  await backends.close();
  await expect(store.table('any')).rejects.toThrow(/closed/);
});

import { expect, test } from 'vitest';
import { findGoogleEmulator } from '../../../infra/emulators/google.ts';
import { startSupervised, untilReady } from '../../../infra/processes/supervised.ts';

test('a machine without gcloud is told why there is no emulator and how to get one', async () => {
  const missing = await findGoogleEmulator({ PATH: '/nonexistent' });
  expect(missing).toMatchObject({
    found: false,
    why: expect.stringContaining('gcloud is not on PATH'),
    howTo: expect.stringContaining('gcloud components install cloud-firestore-emulator'),
  });
});

test('an emulator that runs already is taken from DATASTORE_EMULATOR_HOST', async () => {
  const found = await findGoogleEmulator({ PATH: '', DATASTORE_EMULATOR_HOST: '127.0.0.1:8081' });
  expect(found).toMatchObject({ found: true, endpoint: 'http://127.0.0.1:8081' });
});

test('a child that ends before it is ready is an error with its output', async () => {
  const child = startSupervised(process.execPath, ['-e', 'console.log("why it failed"); process.exit(3)']);
  const ready = untilReady('the child', child, () => false, 20_000);
  await expect(ready).rejects.toThrow(/exit code 3[^]*why it failed/);
});

test('a child that is never ready is ended and reported', async () => {
  const child = startSupervised(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  await expect(untilReady('the child', child, () => false, 300)).rejects.toThrow('not ready after 300 ms');
  expect(await child.exited).not.toBe(0);
});

test('a command that does not exist ends with 127', async () => {
  const child = startSupervised('/nonexistent/command', []);
  expect(await child.exited).toBe(127);
});

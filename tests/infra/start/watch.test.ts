// `npm run dev` says why requests fail, and which process has ended.
import { expect, onTestFinished, test, vi } from 'vitest';
import { startSupervised } from '../../../infra/processes/supervised.ts';
import { watch } from '../../../infra/start/local-clouds.ts';

test('a watch prints only the errors of a log, and says which process has ended', async () => {
  const lines = [{ severity: 'INFO' }, { severity: 'ERROR', code: 'internal' }, { message: '"severity":"ERROR"' }];
  const code = `${lines.map((line) => `console.log(${JSON.stringify(JSON.stringify(line))});`).join('')} process.exit(3)`;
  const child = startSupervised(process.execPath, ['--eval', code]);
  onTestFinished(() => child.close());
  const printed: string[] = [];
  const host = { ...child, url: 'http://127.0.0.1' };
  const cloud = { name: 'Cloud', ended: new AbortController().signal, hosts: [['records', host]] } as const;
  const why = await new Promise<string>((resolve) => watch(cloud, (line) => void printed.push(line), resolve));
  expect(why).toContain('Cloud: the process of records has ended with exit code 3; its last output:\n{');
  await expect.poll(() => printed).toEqual(['Cloud, records: {"severity":"ERROR","code":"internal"}']);
});

test('a watch says that an emulator has ended, also one that ended before', () => {
  const ends: string[] = [];
  const controller = new AbortController();
  const cloud = { name: 'Cloud', ended: controller.signal, hosts: [] };
  const begin = () => watch(cloud, vi.fn(), (why) => void ends.push(why));
  begin();
  controller.abort(new Error('emulator has ended'));
  begin();
  expect(ends).toEqual(['Cloud: emulator has ended', 'Cloud: emulator has ended']);
});

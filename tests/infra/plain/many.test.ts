// As many plain entities as one moves in earnest, of every type, on each cloud. Of 100,000 it takes
// four minutes: STOWAGE_MANY_ENTITIES=100000.
import { expect, test } from 'vitest';
import { testFolder } from '../../support/folder.ts';
import { onBothClouds, stowage } from '../cli/run-command.ts';
import {
  azureTable,
  datastoreClient,
  entitiesIn,
  PROJECT,
  rowsIn,
  writeEntities,
  writeRows,
} from './plain-entities.ts';

const COUNT = Number(process.env['STOWAGE_MANY_ENTITIES'] ?? 20_000);
const SLOW_MS = 900_000;

test.each(['gcp', 'azure'] as const)(
  `${COUNT} entities of %s are adopted, copied to the other cloud and released again as they were`,
  async (cloud) => {
    const env = await onBothClouds();
    const cwd = await testFolder();
    const client = datastoreClient(env['DATASTORE_EMULATOR_HOST']!);
    const tableAt = (name: string) => azureTable(env['STOWAGE_TABLES_ENDPOINT']!, env['STOWAGE_TABLES_KEY']!, name);
    if (cloud === 'gcp') await writeEntities(client, 'many', COUNT, false);
    else await writeRows(tableAt('many'), COUNT);
    const plainAt = (name: string) =>
      cloud === 'gcp' ? `gcp://${PROJECT}/kind:${name}` : `azure://devstoreaccount1/table:${name}`;
    const stores = [`gcp://${PROJECT}?kind=Many-${cloud}`, 'azure://devstoreaccount1/store'];
    const [here, there] = cloud === 'gcp' ? stores : stores.toReversed();
    const run = async (...command: string[]) =>
      expect(await stowage(command, { env, cwd })).toMatchObject({
        code: 0,
        stderr: expect.not.stringContaining('rror') as string,
        stdout: expect.stringContaining(`Both hold the same ${COUNT} records`) as string,
      });
    await run('adopt', 'many', '--plain', plainAt('many'), '--to', here!);
    await run('copy', 'many', '--from', here!, '--to', there!);
    await run(
      'release',
      'many',
      '--from',
      there!,
      '--plain',
      plainAt('back'),
      ...(cloud === 'azure' ? ['--create-table'] : []),
    );
    const [before, after] =
      cloud === 'gcp'
        ? await Promise.all([entitiesIn(client, 'many'), entitiesIn(client, 'back')])
        : [await rowsIn(tableAt('many')), await rowsIn(tableAt('back'))];
    expect(before).toHaveLength(COUNT);
    expect(after.join('\n') === before.join('\n')).toBe(true);
  },
  SLOW_MS,
);

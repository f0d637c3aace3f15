// The file that says where a deployment's functions are, for `stowage compare` and whoever else calls them.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type CloudEndpoint, endpointsSchema } from '../../cli/endpoints.ts';
import type { Settings } from '../context/settings.ts';

/**
 * Writes where the functions are, without any secret, for `compare` and for other machines. What the file says of a cloud that this command is
 * not for stays. Gives the file; undefined if there is nothing to say.
 */
export async function writeEndpoints(
  settings: Settings,
  endpoints: readonly CloudEndpoint[],
): Promise<string | undefined> {
  const file = endpointsFile(settings);
  const others = (await endpointsIn(file)).filter(({ cloud }) => !settings.clouds.includes(cloud));
  const all = [...endpoints, ...others];
  if (all.length === 0) {
    await rm(file, { force: true });
    return undefined;
  }
  await mkdir(settings.outDir, { recursive: true });
  await writeFile(file, `${JSON.stringify({ stage: settings.stage, endpoints: all }, undefined, 2)}\n`);
  return file;
}

/** None if the file is not there, or is not what it should be: it is about to be written. */
async function endpointsIn(file: string): Promise<readonly CloudEndpoint[]> {
  try {
    return endpointsSchema.parse(JSON.parse(await readFile(file, 'utf8'))).endpoints;
  } catch {
    return [];
  }
}

export function endpointsFile({ outDir, stage }: Settings): string {
  return path.join(outDir, `endpoints-${stage}.json`);
}

// The endpoints file: addresses of a deployment's functions, for `stowage compare` and others.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type CloudEndpoint, endpointsSchema } from '../../cli/endpoints.ts';
import { readText } from '../../cli/terminal-text.ts';
import type { Settings } from '../context/deploy-settings.ts';

/** Writes addresses, never secrets, and keeps other clouds'. Undefined without any address. */
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

/** Empty if the file is absent or invalid: it is about to be written. */
async function endpointsIn(file: string): Promise<readonly CloudEndpoint[]> {
  try {
    return endpointsSchema.parse(JSON.parse(await readText(file))).endpoints;
  } catch {
    return [];
  }
}

export function endpointsFile({ outDir, stage }: Settings): string {
  return path.join(outDir, `endpoints-${stage}.json`);
}

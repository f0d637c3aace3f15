// Terraform's state, on this machine or in a shared bucket. The setting `state` names the place.
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Cloud } from '../../package/bundle.ts';
import type { Settings } from '../context/deploy-settings.ts';

/** Ignored by git: it follows from serverless.yml. */
const FILE = 'backend.tf.json';

/** Writes the backend's file into Terraform's folder, or takes it away for a local state. */
export async function writeBackend(
  dir: string,
  cloud: Cloud,
  { state, service }: Pick<Settings, 'state' | 'service'>,
): Promise<void> {
  const backend = backendOf(state, `${service}/${cloud}`);
  const file = path.join(dir, FILE);
  if (backend === undefined) await rm(file, { force: true });
  else await writeFile(file, `${JSON.stringify({ terraform: { backend } }, undefined, 2)}\n`);
}

/** The place in Terraform's words; undefined for `local`. Logins are those of deployments. */
export function backendOf(state: string, prefix: string): object | undefined {
  const [, bucket] = /^gs:\/\/(.+)$/.exec(state) ?? [];
  if (bucket !== undefined) return { gcs: { bucket, prefix } };
  const [, account, container] = /^azure:\/\/(.+)\/(.+)$/.exec(state) ?? [];
  if (account === undefined) return undefined;
  return {
    azurerm: {
      storage_account_name: account,
      container_name: container,
      key: `${prefix}.tfstate`,
      use_azuread_auth: true,
    },
  };
}

/** Advice if Terraform finds that `state` was changed; undefined for other errors. */
export function stateAdvice(said: string, tool: string, dir: string): string | undefined {
  if (!/-migrate-state|state migration/.test(said)) return undefined;
  const init = `${tool} -chdir=${path.relative(process.cwd(), dir) || '.'} init`;
  return [
    'serverless.yml has another `state` than this folder was last used with. Either, once and on one machine, take the state along:',
    `  ${init} -migrate-state`,
    'or, if that has been done elsewhere, forget the old place:',
    `  ${init} -reconfigure`,
  ].join('\n');
}

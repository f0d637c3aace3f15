// serverless.yml, checked and resolved by the framework, as the plugin works with it.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { type Cloud, CLOUDS, ROOT } from '../../package/bundle.ts';
import type { DeclaredFunction, ProviderSettings } from './settings-schema.ts';

export interface FunctionSettings extends DeclaredFunction {
  readonly name: string;
  readonly events: readonly FunctionEvent[];
}

/** A path, or a schedule that is empty while the function is off. */
export type FunctionEvent = { readonly http: string } | { readonly schedule: string };

export interface Settings extends ProviderSettings {
  readonly service: string;
  /** The clouds that the command works on. */
  readonly clouds: readonly Cloud[];
  /** The deployed functions: without one whose schedule is empty. */
  readonly functions: readonly FunctionSettings[];
  /** The folder of packages, plans and endpoints. */
  readonly outDir: string;
}

/** Names are made of it, of which Google's accounts have 30 characters with stage and function. */
const SERVICE = /^[a-z][a-z0-9-]{1,10}$/;

/** Throws a DeployError on a service's name that the clouds would refuse. */
export function settingsOf(
  service: string,
  provider: ProviderSettings,
  functions: Readonly<Record<string, Omit<FunctionSettings, 'name'>>>,
  outDir: string,
): Settings {
  if (!SERVICE.test(service)) {
    throw new DeployError(
      `service: ${service} has to have 2 to 11 lower-case letters, digits and hyphens, beginning with a letter`,
    );
  }
  const deployed = Object.entries(functions)
    .map(([name, settings]) => ({ ...settings, name }))
    .filter((one) => scheduleOf(one) !== '');
  return {
    ...provider,
    service,
    outDir,
    clouds: CLOUDS.filter((cloud) => provider.cloud === 'both' || provider.cloud === cloud),
    functions: deployed,
  };
}

/** Throws a DeployError that names the handlers whose files are missing. */
export function checkHandlers({ functions, clouds }: Settings): void {
  const missing = functions.flatMap(({ name, handler }) =>
    clouds
      .map((cloud) => handler.replace('{cloud}', cloud))
      .filter((file) => !existsSync(path.join(ROOT, file)))
      .map((file) => `functions.${name}.handler: there is no file ${file}`),
  );
  if (missing.length > 0) throw new DeployError(missing.join('\n'));
}

/** Cron in UTC; empty for an event with none; undefined for a function that callers call. */
export function scheduleOf({ events }: Pick<FunctionSettings, 'events'>): string | undefined {
  return events.find((event) => 'schedule' in event)?.schedule;
}

/** `auto` stays with the clouds' SDKs: nothing has shown that the own transport works there. */
export function transportOf({ store }: Pick<Settings, 'store'>): 'own' | 'sdk' {
  return store.transport === 'auto' ? 'sdk' : store.transport;
}

/** An error that the user can mend; the message says how. */
export class DeployError extends Error {}

/** Names a `name=value` that no stage declares: nothing reads it. Undefined if all are declared. */
export function unknownParamText(
  given: readonly string[],
  declared: Readonly<Record<string, object>>,
): string | undefined {
  const known = [...new Set(Object.values(declared).flatMap((ofStage) => Object.keys(ofStage)))];
  const unknown = given.find((param) => !known.includes(param.split('=')[0]!));
  if (unknown === undefined) return undefined;
  return `--param ${unknown}: there is no such parameter; there are ${known.join(', ')}`;
}

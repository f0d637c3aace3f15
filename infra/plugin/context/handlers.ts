// The functions' entry files, before they are built.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../../package/bundle.ts';
import { DeployError, type Settings } from './settings.ts';

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

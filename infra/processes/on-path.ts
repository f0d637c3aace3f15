// Executables on PATH.
import { access, constants } from 'node:fs/promises';
import path from 'node:path';

export async function onPath(command: string, env: NodeJS.ProcessEnv = process.env): Promise<string | undefined> {
  for (const folder of (env['PATH'] ?? '').split(path.delimiter)) {
    const candidate = path.join(folder, command);
    const isThere = access(candidate, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (folder !== '' && (await isThere)) return candidate;
  }
  return undefined;
}

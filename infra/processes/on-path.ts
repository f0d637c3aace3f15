// Executables on PATH.
import { access, constants } from 'node:fs/promises';
import path from 'node:path';

export async function onPath(command: string, env: NodeJS.ProcessEnv = process.env): Promise<string | undefined> {
  for (const folder of (env['PATH'] ?? '').split(path.delimiter)) {
    const candidate = path.join(folder, command);
    if (folder !== '' && (await exists(candidate, constants.X_OK))) return candidate;
  }
  return undefined;
}

/** Whether this process may read the file, or access it in another mode. */
export async function exists(file: string, mode: number = constants.R_OK): Promise<boolean> {
  try {
    await access(file, mode);
    return true;
  } catch {
    return false;
  }
}

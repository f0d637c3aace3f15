// The browser that tests of pages run in, if there is one on this machine.
import { existsSync } from 'node:fs';

/** The program's full path; undefined where there is none. */
export const CHROMIUM = [process.env['STOWAGE_CHROMIUM'], '/usr/bin/chromium', '/usr/bin/chromium-browser'].find(
  (file) => file !== undefined && existsSync(file),
);

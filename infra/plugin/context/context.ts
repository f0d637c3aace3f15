// What every command of the plugin is given: the settings, the machine's tools, and where its words go.
import type { AskTool } from '../../cli/endpoints.ts';
import type { Settings } from './settings.ts';
import { outputOf, type Run } from './tools.ts';

/** What every command works with. */
export interface Context {
  readonly settings: Settings;
  readonly run: Run;
  /** For people. */
  readonly log: (line: string) => void;
}

/** gcloud and az with the user's own login. */
export function askWith(run: Run): AskTool {
  return (tool, args) => outputOf(run, tool, args);
}

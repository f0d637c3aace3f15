// The context of every command of the plugin: the settings, the machine's tools, and the log.
import type { AskTool } from '../../cli/endpoints.ts';
import type { Settings } from './settings.ts';
import { outputOf, type Run } from './tools.ts';

/** Passed to every command. */
export interface Context {
  readonly settings: Settings;
  readonly run: Run;
  /** For people. */
  readonly log: (line: string) => void;
}

/** Runs gcloud and az with the user's own login. */
export function askWith(run: Run): AskTool {
  return (tool, args) => outputOf(run, tool, args);
}

// The context of the plugin's commands: settings, tools, clock, log.
import { setTimeout as sleep } from 'node:timers/promises';
import type { AskTool } from '../../cli/external-tools.ts';
import type { Settings } from './deploy-settings.ts';
import { outputOf, type Run } from './cloud-tools.ts';

export interface Clock {
  /** Monotonic. */
  nowMs(): number;
  sleep(ms: number): Promise<void>;
}

export const CLOCK: Clock = { nowMs: () => performance.now(), sleep };

export interface Context {
  readonly settings: Settings;
  readonly run: Run;
  readonly clock: Clock;
  readonly log: (line: string) => void;
}

/** Runs gcloud and az with the user's own login. */
export function askWith(run: Run): AskTool {
  return (tool, args) => outputOf(run, tool, args);
}

// The context of the plugin's commands: settings, tools, clock, log.
import { setTimeout as sleep } from 'node:timers/promises';
import type { AskTool } from '../../cli/external-tools.ts';
import type { Settings } from './settings.ts';
import { outputOf, type Run } from './cloud-tools.ts';

/** The time, and waiting. */
export interface Clock {
  /** From any beginning; never goes back. */
  nowMs(): number;
  sleep(ms: number): Promise<void>;
}

/** This machine's. */
export const CLOCK: Clock = { nowMs: () => performance.now(), sleep };

/** Passed to every command. */
export interface Context {
  readonly settings: Settings;
  readonly run: Run;
  readonly clock: Clock;
  /** For people. */
  readonly log: (line: string) => void;
}

/** Runs gcloud and az with the user's own login. */
export function askWith(run: Run): AskTool {
  return (tool, args) => outputOf(run, tool, args);
}

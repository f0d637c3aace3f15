// The context of the plugin's commands: settings, clock, log, and terraform or tofu, gcloud and az,
// which run with a deadline, are told of an interruption once, and are asked again for minutes.
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AskTool } from '../../cli/external-tools.ts';
import { onPath } from '../../processes/on-path.ts';
import { DeployError, type Settings } from './deploy-settings.ts';

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

export interface RunOptions {
  /** Added to this process's environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Written to the tool's standard input, as a secret must not be an argument. */
  readonly input?: string;
  /** Lets the user see what the tool prints, as it does. */
  readonly isShown?: boolean;
  /** Default 2 minutes. */
  readonly timeoutMs?: number;
}

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A tool was ended early. It must not be retried automatically. */
class Stopped extends DeployError {}

/** Ended by a signal to this process. */
export class Interrupted extends Stopped {}

export function isInterruption(error: unknown): boolean {
  return error instanceof Interrupted || (error instanceof Error && isInterruption(error.cause));
}

/** Throws only if the tool cannot be started, exceeds its time, or the user interrupts. */
export type Run = (tool: string, args: readonly string[], options?: RunOptions) => Promise<Ended>;

const TIMEOUT_MS = 120_000;
/** Time for Terraform to finish what it has begun, before it is killed. */
const GRACE_MS = 60_000;
const OUTPUT_CHARS_MAX = 10_000_000;

export const run: Run = (tool, args, { env = {}, input, isShown = false, timeoutMs = TIMEOUT_MS } = {}) =>
  new Promise((resolve, reject) => {
    // A group of its own: the terminal would send it a second Ctrl-C, and Terraform would drop all.
    const child = spawn(tool, args, {
      env: { ...process.env, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    });
    // Writing fails if a tool ends without reading its input.
    child.stdin.on('error', () => {}).end(input);
    let stopped: Stopped | undefined;
    const stop = (Kind: typeof Stopped, how: string) => (): void => {
      if (stopped !== undefined) return;
      stopped = new Kind(`${tool} ${args[0] ?? ''} was ${how}; run the same command again: it goes on from there`);
      child.kill('SIGINT');
      setTimeout(() => child.kill('SIGKILL'), GRACE_MS).unref();
    };
    const interrupt = stop(Interrupted, 'interrupted');
    const timer = setTimeout(stop(Stopped, `stopped after ${timeoutMs / 1_000} s`), timeoutMs);
    process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
    const stdout = collect(child.stdout, isShown ? process.stdout : undefined);
    const stderr = collect(child.stderr, isShown ? process.stderr : undefined);
    const settle = (act: () => void): void => {
      clearTimeout(timer);
      process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
      act();
    };
    child.once('error', (cause) => settle(() => reject(new DeployError(`${tool} cannot be started`, { cause }))));
    child.once('close', (code) =>
      settle(() =>
        stopped === undefined ? resolve({ code: code ?? -1, stdout: stdout(), stderr: stderr() }) : reject(stopped),
      ),
    );
  });

/** A tool's standard output, trimmed. Throws with its standard error. */
export async function outputOf(run: Run, tool: string, args: readonly string[], options?: RunOptions): Promise<string> {
  const { code, stdout, stderr } = await run(tool, args, options);
  if (code !== 0) throw new DeployError(`${tool} ${args.slice(0, 3).join(' ')} failed: ${lastLines(stderr || stdout)}`);
  return stdout.trim();
}

export async function firstOnPath(...tools: string[]): Promise<string | undefined> {
  for (const tool of tools) if ((await onPath(tool)) !== undefined) return tool;
  return undefined;
}

export function lastLines(text: string): string {
  return text.trim().split('\n').slice(-6).join('\n');
}

function collect(stream: NodeJS.ReadableStream, shown: NodeJS.WritableStream | undefined): () => string {
  let text = '';
  // If the reader ends, as in `| head`, the tool has to go on with its changes.
  if (shown?.listenerCount('error') === 0) shown.on('error', () => {});
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    text = (text + chunk).slice(-OUTPUT_CHARS_MAX);
    shown?.write(chunk);
  });
  return () => text;
}

export interface Retries {
  /** Default 10 minutes. */
  readonly patienceMs?: number;
  /** The pause between two attempts. Default 10 seconds. */
  readonly pauseMs?: number;
  /** Whether an error may pass; others are thrown at once. Default: all may. */
  readonly isPassing?: (error: unknown) => boolean;
}

/** Roles on Azure take up to ten minutes, mostly one or two. */
const PATIENCE_MS = 10 * 60_000;
const PAUSE_MS = 10_000;

/** When the time is up, throws a DeployError with `failed` and the last error. */
export async function patiently<Result>(
  { log, clock }: Pick<Context, 'log' | 'clock'>,
  failed: string,
  attempt: () => Promise<Result>,
  { patienceMs = PATIENCE_MS, pauseMs = PAUSE_MS, isPassing = () => true }: Retries = {},
): Promise<Result> {
  const deadlineMs = clock.nowMs() + patienceMs;
  for (let round = 1; ; round++) {
    try {
      return await attempt();
    } catch (error) {
      if (error instanceof Stopped || !isPassing(error)) throw error;
      const message = error instanceof Error ? error.message : String(error);
      if (clock.nowMs() + pauseMs > deadlineMs) throw new DeployError(`${failed}: ${message}`, { cause: error });
      // Its further lines are advice, which is not needed yet.
      if (round === 1)
        log(`not there yet (${message.split('\n')[0]!}); trying again for up to ${patienceMs / 60_000} minutes`);
      await clock.sleep(pauseMs);
    }
  }
}

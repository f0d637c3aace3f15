// Child processes that cannot outlive this one: its end closes a pipe, and a supervisor kills them.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const SUPERVISOR = fileURLToPath(new URL('supervisor.ts', import.meta.url));
/** Enough for a stack trace, too little to hold a day's logs. */
const OUTPUT_CHARS_MAX = 20_000;
const STOP_TIMEOUT_MS = 5_000;
const POLL_MS = 20;
/** As a shell's, and the supervisor's. */
const CANNOT_START = 127;

export interface Supervised {
  /** The last 20,000 characters of both output streams. */
  output(): string;
  /** Calls `listener` with each line that the child prints from now on. */
  onLine(listener: (line: string) => void): void;
  /** Resolves when the child has ended, with its exit code. */
  readonly exited: Promise<number>;
  /** Kills the child and waits for its end, at most 5 s. Idempotent. */
  close(): Promise<void>;
}

/** Starts `command`, looked up on PATH. If that cannot be started, it exits with 127. */
export function startSupervised(command: string, args: readonly string[], env = process.env): Supervised {
  const child = spawn(process.execPath, [SUPERVISOR, command, ...args], {
    // Ctrl-C in a terminal then reaches this process alone, which closes in order.
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
    env,
  });
  let output = '';
  const keep = (text: string) => {
    output = (output + text).slice(-OUTPUT_CHARS_MAX);
  };
  child.stdout.setEncoding('utf8').on('data', keep);
  child.stderr.setEncoding('utf8').on('data', keep);
  // A child that has ended has closed its end of the pipe.
  child.stdin.on('error', () => {});
  const exited = once(child, 'exit').then(
    ([code]) => (typeof code === 'number' ? code : 1),
    () => CANNOT_START,
  );
  return {
    output: () => output,
    onLine(listener) {
      for (const input of [child.stdout, child.stderr]) createInterface({ input }).on('line', listener);
    },
    exited,
    async close() {
      child.stdin.end();
      await Promise.race([exited, delay(STOP_TIMEOUT_MS, undefined, { ref: false })]);
    },
  };
}

/** Probes every 20 ms. Closes the child and throws its output if it exits or time is up first. */
export async function untilReady(
  name: string,
  child: Supervised,
  probe: () => boolean | Promise<boolean>,
  timeoutMs: number,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  let exitCode: number | undefined;
  void child.exited.then((code) => (exitCode = code));
  while (!(await probe())) {
    const late = performance.now() > deadline;
    if (late || exitCode !== undefined) {
      await child.close();
      const why = late ? `is not ready after ${timeoutMs} ms` : `ended with exit code ${exitCode}`;
      throw new Error(`${name} ${why}; its last output:\n${child.output()}`);
    }
    await delay(POLL_MS);
  }
}

/** True if a GET of `url` is answered with 200 within a second. */
export async function answersOk(url: string): Promise<boolean> {
  try {
    const reply = await fetch(url, { signal: AbortSignal.timeout(1_000) });
    await reply.arrayBuffer();
    return reply.status === 200;
  } catch {
    return false;
  }
}

/** An unused port of 127.0.0.1: the wanted one, or any. Rejects if it is in use. */
export async function freePort(wanted = 0): Promise<number> {
  const server = createServer().listen(wanted, '127.0.0.1');
  await once(server, 'listening').catch((error: unknown) => {
    throw new Error(`port ${wanted} of 127.0.0.1 cannot be listened on: choose another`, { cause: error });
  });
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

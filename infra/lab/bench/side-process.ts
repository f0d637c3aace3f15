// Starts a contest's side in a process of its own (side-main.ts), and hands it turns.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Provider } from '../../../shared/lab/kit/dimensions.ts';
import type { OwnSide } from './contest/contest.ts';
import type { ContestName } from './contest/goals.ts';
import type { Parts } from './contest/parts.ts';
import type { Turn, TurnSize } from './contest/turn.ts';

const ENTRY = fileURLToPath(new URL('side-main.ts', import.meta.url));
/** Filling a dataset on a busy machine is the longest. */
const REPLY_TIMEOUT_MS = 120_000;

/** What a side plays with. */
export interface SideSetup {
  readonly side: 'ours' | 'theirs';
  readonly provider: Provider;
  /** Address of the emulator. */
  readonly endpoint: string;
  /** Names the tables; those of one dataset may be shared by processes of one side. */
  readonly dataset: string;
}

export type SideOrder =
  | { readonly kind: 'fill' }
  | { readonly kind: 'warm up'; readonly operations: number }
  | { readonly kind: 'turn' | 'parts'; readonly contest: ContestName; readonly size: TurnSize };

export type SideReply =
  { readonly ready: true } | { readonly turn: Turn } | { readonly parts: Parts } | { readonly failed: string };

/** Takes one order at a time. Each rejects with what went wrong there, when the process ends, and with the signal's reason. */
export interface SideProcess extends OwnSide {
  fill(): Promise<void>;
  /** So many puts and gets alone, and as many in company. */
  warmUp(operations: number): Promise<void>;
  /** Ends the process. Idempotent. */
  close(): Promise<void>;
}

/** Starts the process and waits until it has opened its dataset. */
export async function startSide(setup: SideSetup, signal: AbortSignal): Promise<SideProcess> {
  const child = fork(ENTRY, [JSON.stringify(setup)], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const exited = once(child, 'exit').catch(() => []);
  const gone = new AbortController();
  void exited.then(() => gone.abort(new Error(`the process of ${setup.side} on ${setup.provider} has ended`)));
  const side = sideOf(child, AbortSignal.any([signal, gone.signal]));
  const close = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
  };
  try {
    await side.opened;
  } catch (error) {
    await close();
    throw error;
  }
  return { ...side, close };
}

function sideOf(child: ChildProcess, signal: AbortSignal) {
  const reply = async (): Promise<SideReply> => {
    const ended = AbortSignal.any([signal, AbortSignal.timeout(REPLY_TIMEOUT_MS)]);
    const [message] = (await once(child, 'message', { signal: ended }).catch((error: unknown) => {
      throw ended.aborted ? ended.reason : error;
    })) as [SideReply];
    if ('failed' in message) throw new Error(message.failed);
    return message;
  };
  const ask = async (order: SideOrder): Promise<SideReply> => {
    signal.throwIfAborted();
    child.send(order);
    return reply();
  };
  return {
    opened: reply(),
    fill: async () => void (await ask({ kind: 'fill' })),
    warmUp: async (operations: number) => void (await ask({ kind: 'warm up', operations })),
    turn: async (contest: ContestName, size: TurnSize) => {
      const answer = await ask({ kind: 'turn', contest, size });
      if ('turn' in answer) return answer.turn;
      throw new Error('a side gave no turn');
    },
    parts: async (contest: ContestName, size: TurnSize) => {
      const answer = await ask({ kind: 'parts', contest, size });
      if ('parts' in answer) return answer.parts;
      throw new Error('a side gave no parts');
    },
  };
}

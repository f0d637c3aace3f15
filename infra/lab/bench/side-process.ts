// Starts a contest's side in a process of its own (side-main.ts), and hands it turns.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Provider } from '../../../shared/lab/kit/dimensions.ts';
import type { Transport } from '../providers.ts';
import type { ContestName } from './contest/goals.ts';
import type { Turn, TurnSize } from './contest/turn.ts';

const ENTRY = fileURLToPath(new URL('side-main.ts', import.meta.url));
/** Filling a dataset on a busy machine is the longest. */
const REPLY_TIMEOUT_MS = 120_000;

export interface SideSetup {
  /** Containers, the plain SDK, or one entity a record through this store's driver. */
  readonly side: 'ours' | 'theirs' | 'entities';
  /** Default `own`; the plain SDK has no other. */
  readonly transport?: Transport;
  readonly provider: Provider;
  readonly endpoint: string;
  /** Names the tables; those of one dataset may be shared by processes of one side. */
  readonly dataset: string;
  /** Puts and gets alone, and as many in company; 0: another process has filled the dataset. */
  readonly warmUpOperations: number;
}

export interface SideOrder {
  readonly contest: ContestName;
  readonly size: TurnSize;
}

/** The first reply, when the side is ready, has no turn. */
export type SideReply = { readonly turn: Turn | undefined } | { readonly failed: string };

/** One turn at a time. It rejects with what went wrong there, and with the signal's reason. */
export interface SideProcess {
  turn(contest: ContestName, size: TurnSize): Promise<Turn>;
  /** Ends the process. Idempotent. */
  close(): Promise<void>;
}

export async function startSide(setup: SideSetup, signal: AbortSignal): Promise<SideProcess> {
  const child = fork(ENTRY, [JSON.stringify(setup)], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const exited = once(child, 'exit').catch(() => []);
  const gone = new AbortController();
  void exited.then(() => gone.abort(new Error(`the process of ${setup.side} on ${setup.provider} has ended`)));
  const over = AbortSignal.any([signal, gone.signal]);
  const reply = async (): Promise<Turn | undefined> => {
    const ended = AbortSignal.any([over, AbortSignal.timeout(REPLY_TIMEOUT_MS)]);
    const [message] = (await once(child, 'message', { signal: ended }).catch((error: unknown) => {
      throw ended.aborted ? ended.reason : error;
    })) as [SideReply];
    if ('failed' in message) throw new Error(message.failed);
    return message.turn;
  };
  const close = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
  };
  try {
    await reply();
  } catch (error) {
    await close();
    throw error;
  }
  const turn = async (contest: ContestName, size: TurnSize): Promise<Turn> => {
    over.throwIfAborted();
    child.send({ contest, size } satisfies SideOrder);
    return (await reply())!;
  };
  return { turn, close };
}

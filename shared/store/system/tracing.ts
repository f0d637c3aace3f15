// What a table's engine counts, Node's diagnostics channels, and the call that code runs for. The
// channels are idle without a subscriber.
import { AsyncLocalStorage } from 'node:async_hooks';
import { channel, type TracingChannel, tracingChannel } from 'node:diagnostics_channel';
import { StoreError } from '../contract/errors.ts';
import type { OperationTrace, RequestTrace, StoreEvent, TraceOutcome } from '../contract/trace.ts';
import type { TableStats } from '../contract/stats.ts';

const operations = tracingChannel<string, OperationTrace>('stowage:operation');
const requests = tracingChannel<string, RequestTrace>('stowage:request');
const events = channel('stowage:event');
const current = new AsyncLocalStorage<OperationTrace | undefined>();

/** The call that this code runs for; undefined in the background, and where nobody traces. */
export function currentOperation(): OperationTrace | undefined {
  return current.getStore();
}

/** Work for a call that is not the one that began it, as of a queue. */
export function inOperation<T>(operation: OperationTrace | undefined, work: () => T): T {
  return current.getStore() === operation ? work() : current.run(operation, work);
}

/** Work within another call is part of that. Begins `work` at once. */
export function traceOperation<T>(table: string | undefined, operation: string, work: () => Promise<T>): Promise<T> {
  if (!isTraced() || current.getStore() !== undefined) return work();
  const figures = { requests: 0, conflicts: 0, cacheHits: 0, bytesRead: 0, bytesWritten: 0 };
  const trace: OperationTrace = { operation, table, ...figures, outcome: 'ok' };
  return current.run(trace, () => traced(operations, trace, work, (result) => (trace.outcome = outcomeOf(result))));
}

/** `told` writes into the trace what the answer shows. */
export function traceRequest<T>(
  asked: Pick<RequestTrace, 'kind' | 'table' | 'entities' | 'operation'>,
  send: () => Promise<T>,
  told: (answer: T, trace: RequestTrace) => void = () => {},
): Promise<T> {
  const { operation } = asked;
  if (operation === undefined && !isTraced()) return send();
  const trace: RequestTrace = { ...asked, bytesRead: 0, bytesWritten: 0, outcome: 'ok' };
  if (operation !== undefined) operation.requests += 1;
  const tell = (answer: T): void => {
    told(answer, trace);
    if (operation === undefined) return;
    operation.bytesRead += trace.bytesRead;
    operation.bytesWritten += trace.bytesWritten;
  };
  return current.run(operation, () => traced(requests, trace, send, tell));
}

/** `table`: undefined for that of the call. */
export function noteEvent(event: StoreEvent['event'], table: string | undefined, count = 1): void {
  const operation = current.getStore();
  if (operation === undefined && !events.hasSubscribers) return;
  if (operation !== undefined && (event === 'conflicts' || event === 'cacheHits')) operation[event] += count;
  events.publish({ event, count, table: table ?? operation?.table, operation } satisfies StoreEvent);
}

function isTraced(): boolean {
  return operations.hasSubscribers || requests.hasSubscribers || events.hasSubscribers;
}

function traced<T, Trace extends { outcome: string }>(
  channel: TracingChannel<string, Trace>,
  trace: Trace,
  work: () => Promise<T>,
  tell: (result: T) => void,
): Promise<T> {
  const told = async (): Promise<T> => {
    try {
      const result = await work();
      tell(result);
      return result;
    } catch (error) {
      trace.outcome = codeOf(error);
      throw error;
    }
  };
  return channel.tracePromise(told, trace);
}

/** A list of outcomes has failed if one of them has. */
function outcomeOf(result: unknown): TraceOutcome {
  if (!Array.isArray(result)) return 'ok';
  const failed = (result as ({ status?: string; error?: unknown } | string)[]).find(
    (item) => typeof item === 'object' && item.status === 'failed',
  );
  return failed === undefined ? 'ok' : codeOf((failed as { error?: unknown }).error);
}

function codeOf(error: unknown): TraceOutcome {
  return error instanceof StoreError ? error.code : 'failed';
}

/** `TableStats` is the public view of it. */
export type Counters = { -readonly [Name in Exclude<keyof TableStats, `${string}Max`>]: number };

/** A table's counters, and its name for the diagnostics channel. */
export interface Counted {
  readonly table: string;
  readonly counters: Counters;
}

/** Counts an event, and publishes it on the diagnostics channel. */
export function count({ table, counters }: Counted, event: StoreEvent['event'] & keyof Counters, times = 1): void {
  counters[event] += times;
  noteEvent(event, table, times);
}

export function newCounters(): Counters {
  return {
    requests: 0,
    readRequests: 0,
    writeRequests: 0,
    conflicts: 0,
    commits: 0,
    unknownOutcomes: 0,
    cacheHits: 0,
    cacheMisses: 0,
    splits: 0,
    contentionSplits: 0,
    lostSplits: 0,
    foreignCommits: 0,
    readsFirst: 0,
    yields: 0,
    rightWalks: 0,
    leftSearches: 0,
    merges: 0,
    queueDepth: 0,
  };
}

// Calls of somebody's own client, each to its deadline.
import { UnderWay } from './under-way.ts';

export class ClientCalls {
  readonly #underWay = new UnderWay();

  /** Rejects with a DeadlineError after `timeoutMs`, with a StoreError after `close`. */
  async run<T>(timeoutMs: number, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const untilMs = performance.now() + timeoutMs;
    this.#underWay.check(untilMs);
    const controller = new AbortController();
    const request = { destroy: () => controller.abort() };
    const { promise: givenUp, reject } = Promise.withResolvers<never>();
    this.#underWay.add(request, untilMs, Infinity, reject);
    try {
      return await Promise.race([call(controller.signal), givenUp]);
    } finally {
      this.#underWay.delete(request);
    }
  }

  /** Gives up the calls under way. The client stays its owner's, who closes it. */
  close(): void {
    this.#underWay.close();
  }
}

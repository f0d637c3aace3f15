// Runs calls of the user's own client until their deadlines.
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

  /** Gives up the calls under way. The client's owner closes the client. */
  close(): void {
    this.#underWay.close();
  }
}

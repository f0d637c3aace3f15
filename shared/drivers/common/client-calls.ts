// Calls of somebody's own client, each to its deadline.
import { UnderWay } from './under-way.ts';

export class ClientCalls {
  readonly #underWay = new UnderWay();

  /** Rejects with a DeadlineError after `timeoutMs`, with a StoreError after `close`. */
  run<T>(timeoutMs: number, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const untilMs = performance.now() + timeoutMs;
      this.#underWay.check(untilMs);
      const controller = new AbortController();
      const request = { destroy: () => controller.abort() };
      const end = <Result>(settle: (result: Result) => void) => {
        return (result: Result): void => {
          this.#underWay.delete(request);
          settle(result);
        };
      };
      this.#underWay.add(request, untilMs, Infinity, reject);
      call(controller.signal).then(end(resolve), end(reject));
    });
  }

  /** Gives up the calls under way. The client stays its owner's, who closes it. */
  close(): void {
    this.#underWay.close();
  }
}

// A process of clients that is killed and started again, stopped and woken.
import { setTimeout as delay } from 'node:timers/promises';
import type { Where } from './worker-lines.ts';
import { WorkerLife } from './worker-life.ts';

export class WorkerProcess {
  readonly #index: number;
  readonly #where: Where;
  readonly #endedByItself: (what: string) => void;
  #life: WorkerLife;
  #restarted: Promise<void> = Promise.resolve();
  #isEnding = false;

  constructor(index: number, where: Where, endedByItself: (what: string) => void) {
    this.#index = index;
    this.#where = where;
    this.#endedByItself = endedByItself;
    this.#life = this.#start(0);
  }

  async awake(): Promise<WorkerLife> {
    await this.#restarted;
    return this.#life;
  }

  async kill(downMs: number): Promise<void> {
    this.#isEnding = true;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#restarted = promise;
    this.#life.signal('SIGKILL');
    await this.#life.crashed;
    await delay(downMs);
    this.#isEnding = false;
    this.#life = this.#start(this.#life.number + 1);
    resolve();
  }

  async pause(ms: number): Promise<void> {
    const life = this.#life;
    life.signal('SIGSTOP');
    await delay(ms);
    life.signal('SIGCONT');
  }

  async close(): Promise<void> {
    this.#isEnding = true;
    await this.#life.end();
  }

  #start(number: number): WorkerLife {
    const life = new WorkerLife(this.#index, number, this.#where);
    void life.crashed.then(() => {
      if (!this.#isEnding) this.#endedByItself(`process ${this.#index} ended by itself, in its life ${number}`);
    });
    return life;
  }
}

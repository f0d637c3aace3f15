// A modelled instance of a function: a processor, and layouts with their own cold memory.
import type { Scheduler } from '../time/scheduler.ts';
import { Processor } from './processor.ts';

export class Instance {
  readonly number: number;
  readonly processor: Processor;
  /** When it serves its first operation. */
  readonly readyAtMs: number;
  /** Calls that its fleet has given it and that have not ended. */
  taken = 0;
  /** Operations of its SDK or store under way: they share turns of its event loop. */
  inFlight = 0;

  constructor(number: number, scheduler: Scheduler, startMs: number) {
    this.number = number;
    this.processor = new Processor(scheduler);
    this.readyAtMs = scheduler.nowMs + startMs;
  }
}

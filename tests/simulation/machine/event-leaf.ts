// Runs one leaf without waiting: carries out the step that its state asks for, and tells it what
// came of that, whenever the network or the clock brings it.
import type { Attempt } from '../../../shared/store/container/attempts.ts';
import type { Change } from '../../../shared/store/container/change.ts';
import type { Snapshot } from '../../../shared/store/container/snapshot.ts';
import type { WriteOutcome } from '../../../shared/store/contract/driver.ts';
import { departs } from '../../../shared/store/machine/commit.ts';
import { type Event, type Present, isIdle, Leaf, type Step } from '../../../shared/store/machine/leaf.ts';
import { lateAfterMs, nextStep } from '../../../shared/store/machine/next-step.ts';
import { tell } from '../../../shared/store/machine/tell.ts';
import type { EventStore } from './event-store.ts';

type StepOf<Kind extends Step['kind']> = Extract<Step, { readonly kind: Kind }>;

/** Rule 3: another write beside one that may land yet, and no third. */
const WRITES_MAX = 2;

export class EventLeaf {
  readonly leaf: Leaf;
  readonly #store: EventStore;
  #isRunning = false;
  #wake: (() => void) | undefined;
  /** Attempts that departed and were not answered. */
  readonly #sent = new Set<Attempt>();

  constructor(store: EventStore, id: Leaf['id']) {
    this.#store = store;
    this.leaf = new Leaf(id, store.world.table);
  }

  add(changes: readonly Change[], retired?: Snapshot): void {
    this.#tell({ kind: 'came', changes, retired });
    if (changes.some(({ isEntryRepair }) => !isEntryRepair)) this.#wake?.();
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#store.after(0, () => this.#go());
  }

  get #here(): Present {
    return { world: this.#store.world, now: this.#store.clock.now() };
  }

  #tell(event: Event): Step | undefined {
    this.#store.trace(this.leaf, event);
    return tell(this.leaf, event, this.#here);
  }

  /** An error of the decision itself, as for a damaged page, counts as that of a read. */
  #next(): Step {
    try {
      return nextStep(this.leaf, this.#here);
    } catch (error) {
      return this.#tell({ kind: 'failed', purpose: undefined, error }) ?? { kind: 'turn' };
    }
  }

  /** Begins a step. Whatever ends it goes on here, so there is one at a time. */
  #go(step = this.#next()): void {
    const { leaf } = this;
    this.#store.tellParents(leaf.entryRepairs);
    switch (step.kind) {
      case 'idle':
        this.#isRunning = !isIdle(leaf);
        if (this.#isRunning) this.#store.after(0, () => this.#go());
        else this.#store.forgetIdle(leaf.id);
        return;
      case 'turn':
        return void this.#store.after(0, () => this.#go());
      case 'pause':
        return this.#pause(step);
      case 'write':
        return this.#write(step);
      case 'send on':
        this.#store.sendOn(leaf.id, step);
        return this.#go();
      case 'read':
        return this.#read(step, (event) => this.#go(this.#tell(event)));
      case 'check':
        return this.#store.check(step.snapshot, (event) => this.#go(this.#tell(event)));
      case 'insert':
        return this.#store.insert(step, (event) => this.#go(this.#tell(event)));
      case 'answer':
        throw new Error('a step was asked for while a write is under way');
      default:
        step satisfies never;
    }
  }

  #pause({ ms, canBeWoken }: StepOf<'pause'>): void {
    const passed = (): void => {
      this.#wake = undefined;
      this.#go(this.#tell({ kind: 'pause over' }));
    };
    const cancel = this.#store.after(ms, passed);
    if (!canBeWoken) return;
    this.#wake = () => {
      this.#wake = undefined;
      cancel();
      this.#store.after(0, passed);
    };
  }

  #read({ id, what, purpose, latest, withinMs }: StepOf<'read'>, done: (event: Event) => void): void {
    const end = this.#store.within(withinMs, { kind: 'failed', purpose, error: undefined }, done);
    this.#store.read(id, what, latest, (reply) =>
      end('error' in reply ? { kind: 'failed', purpose, ...reply } : { kind: 'shown', purpose, ...reply }),
    );
  }

  /** The request waits for room, then departs, unless it is taken back. */
  #write({ write, attempt }: StepOf<'write'>): void {
    const store = this.#store;
    const sent = store.clock.now();
    const answered = (outcome: WriteOutcome | { readonly kind: 'taken back' }): void => {
      if (this.leaf.overdue === attempt) this.leaf.overdue = undefined;
      const isAwaited = this.leaf.underWay === attempt;
      const follows = this.#tell({ kind: 'answered', attempt, outcome, sent });
      if (isAwaited) this.#go(follows);
    };
    store.after(store.drawRoomMs(), () => {
      if (!departs(this.leaf, attempt)) return answered({ kind: 'taken back' });
      this.#sent.add(attempt);
      const { length } = [...this.#sent].filter((each) => this.leaf.open.has(each));
      if (length > WRITES_MAX) store.complain(`${this.leaf.id} has ${length} writes under way that may land`);
      store.write(write, (outcome) => {
        this.#sent.delete(attempt);
        answered(outcome);
      });
    });
    this.#watch(attempt);
  }

  /** Asks after a write that may be lost. Once it is answered, a read shows the past. */
  #watch(attempt: Attempt): void {
    const { leaf } = this;
    this.#store.after(lateAfterMs(leaf, this.#store.clock.now().monotonicMs), () => {
      if (leaf.underWay !== attempt) return;
      this.#tell({ kind: 'late' });
      const step = this.#next();
      if (step.kind !== 'read') return this.#watch(attempt);
      this.#read(step, (event) => {
        if (leaf.underWay !== attempt) return;
        const follows = this.#tell(event);
        if (leaf.underWay === attempt) this.#watch(attempt);
        else this.#go(follows);
      });
    });
  }
}

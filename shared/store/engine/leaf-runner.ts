// Runs one container: carries out the steps that its state asks for, and tells it what came of
// them. While a commit is under way later changes gather, then go in one.
import type { Attempt } from '../container/attempts.ts';
import type { Change } from '../container/change.ts';
import type { Snapshot } from '../container/snapshot.ts';
import type { EntityId } from '../contract/driver.ts';
import type { StoreError } from '../contract/errors.ts';
import { departs } from '../machine/commit.ts';
import { type Event, type Here, isIdle, type Leaf, newLeaf, type Step } from '../machine/leaf.ts';
import { lateAfterMs, nextStep } from '../machine/next-step.ts';
import { tell } from '../machine/tell.ts';
import { inOperation } from '../system/tracing.ts';
import type { EngineCore } from './core.ts';
import { insertNodes } from './insert-nodes.ts';
import type { Routes } from './route.ts';

type StepOf<Kind extends Step['kind']> = Extract<Step, { readonly kind: Kind }>;

/** The steps that ask the provider something, and go on with its answer. */
type Question = StepOf<'read' | 'check' | 'insert'>;

export class LeafRunner {
  readonly #core: EngineCore;
  readonly #routes: Routes;
  readonly leaf: Leaf;
  /** The router knows it, and puts changes in. */
  #isRunning = false;
  /** Ends a pause in which nobody waits. */
  #wake: (() => void) | undefined;

  constructor(leaf: Leaf, core: EngineCore, routes: Routes) {
    this.leaf = leaf;
    this.#core = core;
    this.#routes = routes;
  }

  /** `retired`: the right neighbour, to be absorbed before other commits (rule 27). */
  add(changes: readonly Change[], retired?: Snapshot): void {
    this.#tell({ kind: 'came', changes, retired });
    if (changes.some(({ isHint }) => !isHint)) this.#wake?.();
    if (this.#isRunning) return;
    this.#isRunning = true;
    void this.run();
  }

  /** Resolves when there is nothing to do any more. */
  async run(): Promise<void> {
    const { commitsAtATime } = this.#core;
    while (!isIdle(this.leaf)) {
      // Also where there is room: changes of the same moment gather.
      await commitsAtATime.acquire();
      let pause: StepOf<'pause'> | undefined;
      try {
        pause = await inOperation(this.leaf.changes[0]?.operation, () => this.#round());
      } finally {
        commitsAtATime.release();
      }
      if (pause !== undefined) await this.#pause(pause);
    }
    if (this.#isRunning) this.#routes.queueIsIdle(this.leaf.id);
  }

  /** Until an attempt is over, or a pause is due. */
  async #round(): Promise<StepOf<'pause'> | undefined> {
    const { turns } = this.#core;
    if (this.leaf.changes.length > 1 && turns.isLong) await turns.pause();
    for (let step = this.#next(); ;) {
      let follows: Step | undefined;
      switch (step.kind) {
        case 'rest':
          return undefined;
        case 'answer':
          throw new Error('a round begins while a write is under way');
        case 'pause':
          return step;
        case 'write':
          follows = await this.#write(step);
          if (follows === undefined) return undefined;
          break;
        case 'turn':
          if (turns.isLong) await turns.pause();
          break;
        case 'send on':
          this.#sendOn(step);
          break;
        case 'read':
        case 'check':
        case 'insert':
          follows = await this.#ask(step);
          break;
        default:
          step satisfies never;
      }
      step = follows ?? this.#next();
    }
  }

  get #here(): Here {
    return { world: this.#core, now: this.#core.clock.now() };
  }

  #tell(event: Event): Step | undefined {
    return tell(this.leaf, event, this.#here);
  }

  /** An error of the decision itself, as for a damaged page, counts as that of a read. */
  #next(): Step {
    try {
      return nextStep(this.leaf, this.#here);
    } catch (error) {
      return this.#tell({ kind: 'failed', reader: undefined, error }) ?? { kind: 'turn' };
    }
  }

  async #ask(step: Question): Promise<Step | undefined> {
    try {
      return this.#tell(await this.#answerTo(step));
    } catch (error) {
      return this.#tell({ kind: 'failed', reader: step.kind === 'read' ? step.reader : undefined, error });
    }
  }

  async #answerTo(step: Question): Promise<Event> {
    if (step.kind === 'check') return { kind: 'checked', isCurrent: await this.#core.reader.isCurrent(step.snapshot) };
    if (step.kind === 'insert') return this.#insert(step);
    const { withinMs, reader } = step;
    const reading = this.#read(step).then((snapshot): Event => ({ kind: 'shown', reader, snapshot }));
    const shown = await (withinMs === undefined ? reading : this.#core.deadlines.within(withinMs, reading));
    return shown ?? { kind: 'failed', reader, error: undefined };
  }

  #read({ id, what, latest }: StepOf<'read'>): Promise<Snapshot | undefined> {
    const { reader } = this.#core;
    if (what === 'unknown') return reader.readUnknown(id);
    return what === 'intact' ? reader.readIntact(id) : reader.readPages(id, what, latest);
  }

  async #insert({ headers, attempt, withinMs }: StepOf<'insert'>): Promise<Event> {
    const refusals: StoreError[] = [];
    const inserting = insertNodes(this.#core, headers, attempt, (refusal) => refusals.push(refusal));
    const nodes = await (withinMs === undefined ? inserting : this.#core.deadlines.within(withinMs, inserting));
    return { kind: 'inserted', nodes, refusal: refusals.at(-1) };
  }

  /** Until the write is answered, or a read tells what became of it, or it is given up (rule 3). */
  async #write({ write, attempt, isAlone }: StepOf<'write'>): Promise<Step | undefined> {
    const { clock, deadlines, writeBatcher } = this.#core;
    const { leaf } = this;
    const sent = clock.now();
    const sending = writeBatcher.send(write, isAlone, () => departs(leaf, attempt));
    try {
      for (let nowMs = sent.monotonicMs; leaf.underWay === attempt;) {
        const soon = await deadlines.within(lateAfterMs(leaf, nowMs), sending, nowMs);
        const outcome = soon ?? (await Promise.race([sending, this.#askAfter(attempt)]));
        if (outcome !== undefined) this.#tell({ kind: 'answered', attempt, outcome, sent });
        else nowMs = clock.now().monotonicMs;
      }
    } catch (error) {
      return this.#tell({ kind: 'failed', reader: undefined, error });
    }
    if (leaf.overdue === attempt) this.#forgetWhenAnswered(attempt, sending);
    return undefined;
  }

  /** Nobody hears it any more, but no third write is sent beside it. */
  #forgetWhenAnswered(overdue: Attempt, sending: Promise<unknown>): void {
    const answered = (): void => {
      if (this.leaf.overdue === overdue) this.leaf.overdue = undefined;
    };
    void sending.then(answered, answered);
  }

  /** Once the write is answered, what this read shows is of the past, and nobody hears it. */
  async #askAfter(attempt: Attempt): Promise<undefined> {
    this.#tell({ kind: 'late' });
    const step = this.#next();
    if (step.kind !== 'read') return;
    const { reader } = step;
    const event = await this.#answerTo(step).catch((error: unknown): Event => ({ kind: 'failed', reader, error }));
    if (this.leaf.underWay === attempt) this.#tell(event);
  }

  async #pause({ ms, isWoken }: StepOf<'pause'>): Promise<void> {
    const { runtime } = this.#core;
    if (isWoken) {
      const woken = new AbortController();
      this.#wake = () => woken.abort();
      await runtime.watch(ms, woken.signal);
      this.#wake = undefined;
    } else await runtime.sleep(ms);
    this.#tell({ kind: 'passed' });
  }

  #sendOn({ way, node, changes }: StepOf<'send on'>): void {
    const { id } = this.leaf;
    if (way === 'left') this.#routes.routeLeft(id, node, changes);
    else if (way === 'missing') this.#routes.routeAfterMiss(id, changes);
    else if (way === 'right') this.#routes.routeBeyond(node!, changes);
    else this.#routes.routeAstray(node!, changes);
  }
}

/** Works on a container that no call waits for, as a vacuum does. Throws if a read fails. */
export async function maintain(
  id: EntityId,
  core: EngineCore,
  routes: Routes,
  prepare: (leaf: Leaf) => void,
): Promise<Leaf> {
  const leaf = newLeaf(id, core.table, true);
  prepare(leaf);
  await new LeafRunner(leaf, core, routes).run();
  if (leaf.failure !== undefined) throw leaf.failure.error;
  return leaf;
}

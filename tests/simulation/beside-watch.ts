// What processes of another release do beside merges of this one, counted as the network brings it: a mixture that never occurs is not tested.
import type { Driver, Entity, Write, WriteOutcome } from '../../shared/store/contract/driver.ts';
import type { MemoryState } from '../../shared/drivers/memory.ts';
import { partName } from '../support/ids.ts';
import { stateOf } from './decode.ts';
import type { Events } from './events.ts';
import { mergeStepOf, nodeAt } from './merge-step.ts';
import type { Life } from './process.ts';
import { tableOf } from './provider.ts';
import type { Release } from './release.ts';

export class BesideWatch {
  readonly #state: MemoryState;
  readonly #events: Events;
  readonly #hasRetired: (table: string) => boolean;

  constructor(state: MemoryState, events: Events, hasRetired: (table: string) => boolean) {
    this.#state = state;
    this.#events = events;
    this.#hasRetired = hasRetired;
  }

  /** The provider as a process of the other release reaches it. */
  driverFor(driver: Driver, { knowsMerging }: Release): Driver {
    return {
      ...driver,
      read: async (requests, options) => {
        const entities = await driver.read(requests, options);
        for (const entity of entities) this.#countRead(entity);
        return entities;
      },
      write: async (writes, options) => {
        const step = knowsMerging ? mergeStepOf(writes, this.#state) : undefined;
        const outcomes = await driver.write(writes, options);
        const isWritten = outcomes.some(({ kind }) => kind === 'written');
        if (step !== undefined && isWritten) this.#events.count(`another release made a merge's step: ${step}`);
        for (const [at, outcome] of outcomes.entries()) this.#countWrite(writes[at]!, outcome);
        return outcomes;
      },
    };
  }

  #countRead(entity: Entity | undefined): void {
    const header = entity?.parts.get(partName('h'));
    const state = header === undefined ? 'live' : stateOf(header);
    if (state === 'retired' || state === 'merged') this.#events.count(`another release met a ${state} leaf`);
  }

  #countWrite({ id }: Write, outcome: WriteOutcome): void {
    if (outcome.kind === 'written' && this.#hasRetired(tableOf(id)))
      this.#events.count('another release wrote while a leaf was retired');
    if (outcome.kind !== 'refused') return;
    const state = nodeAt(this.#state, id)?.state;
    if (state === 'retired' || state === 'merged') this.#events.count(`another release was refused at a ${state} leaf`);
  }
}

/** How often a process ended as one release and began as the other. */
export function countTurns(lives: readonly Life[], events: Events): void {
  events.count('another release went in a circle', lives.filter(({ isStuck }) => isStuck).length);
  for (const [at, { other }] of lives.slice(1).entries()) {
    const before = lives[at]!.other;
    if (before !== undefined && other === undefined) events.count('process went from another release to this one');
    if (before === undefined && other !== undefined) events.count('process went from this release to another');
  }
}

// Makes changes for tests, applies them to a leaf, and compares the leaf with a model.
import { expect } from 'vitest';
import { type Random, randomInt } from '../../../shared/lab/kit/random.ts';
import { type Action, byPosition, Change } from '../../../shared/store/container/change.ts';
import { PURGE_AFTER_MS } from '../../../shared/store/container/merge-pages.ts';
import { evaluate, type Evaluation, sealPages } from '../../../shared/store/container/evaluate.ts';
import { findRecord } from '../../../shared/store/container/layers.ts';
import type { planCommit } from '../../../shared/store/container/plan-commit.ts';
import { pageOf, type Snapshot } from '../../../shared/store/container/snapshot.ts';
import { isExpired } from '../../../shared/store/format/page-body.ts';
import { hexId } from '../../support/ids.ts';
import { RULES, snapshotWith, TABLE } from './nodes.ts';

/** The keys of random changes. */
export const KEYS = Array.from({ length: 300 }, (_, index) => `k${String(index).padStart(3, '0')}`);

export const ATTEMPT = hexId('eeeeeeeeeeeeeeee');
const SINK = { settled: () => undefined };

type PlanInput = Parameters<typeof planCommit>[0];

/** For each key the byte that fills its value, and when it expires. */
export type Model = Map<string, { readonly fill: number; readonly expiresAtMs: number | undefined }>;

export function change(
  key: string,
  action: Action,
  more: Partial<ConstructorParameters<typeof Change>[0]> = {},
): Change {
  const bytes = Buffer.from(key);
  const rest = { order: 'key', level: 0, bytes: 0, begunTick: 0, index: 0, sink: SINK } as const;
  return new Change({ ...rest, position: bytes, key: bytes, action, ...more });
}

export function put(key: string, fill: number, expiresAtMs?: number): Change {
  return change(key, { kind: 'write', codec: 0, value: Buffer.alloc(90, fill), expiresAtMs });
}

export function remove(key: string): Change {
  return change(key, () => ({ kind: 'remove' }));
}

/** Puts and removals of about `count` keys, applied to the model, too. Some puts expire soon. */
export function randomChanges(
  random: Random,
  keys: readonly string[],
  model: Model,
  { count, fill, nowMs }: { readonly count: number; readonly fill: number; readonly nowMs: number },
): Change[] {
  const chosen = new Set(Array.from({ length: count }, () => keys[randomInt(random, keys.length)]!));
  const changes = [...chosen].map((key) => {
    if (randomInt(random, 4) === 0) {
      model.delete(key);
      return remove(key);
    }
    const expiresAtMs = randomInt(random, 5) === 0 ? nowMs + 1 + randomInt(random, 2 * PURGE_AFTER_MS) : undefined;
    model.set(key, { fill, expiresAtMs });
    return put(key, fill, expiresAtMs);
  });
  return changes.sort(byPosition);
}

interface EvaluationOptions {
  readonly nowMs?: number;
  readonly mergesAll?: boolean;
  readonly purges?: boolean;
}

/** Evaluates the changes, and seals the new pages. */
export function evaluated(
  snapshot: Snapshot,
  changes: readonly Change[],
  { nowMs = 0, mergesAll = false, purges = false }: EvaluationOptions = {},
): Evaluation {
  const draft = evaluate(snapshot, changes, { ...RULES, nowMs, mergesAll, purges });
  return sealPages(draft, snapshot.header, RULES);
}

/** The container after an evaluation, as a commit would leave it except for the commit ids. */
export function after(snapshot: Snapshot, { pages, layers, deadSlots, nextNumber }: Evaluation): Snapshot {
  return { ...snapshot, header: { ...snapshot.header, pages, layers, deadSlots, nextNumber } };
}

/** A leaf after these changes, which lie in its base. */
export function leafOf(changes: readonly Change[]): Snapshot {
  return after(snapshotWith({}), evaluated(snapshotWith({}), changes));
}

/** The input to plan a commit of an evaluation. New nodes take ids from 17 on. */
export function planInput(snapshot: Snapshot, evaluation: Evaluation, rest: Partial<PlanInput> = {}): PlanInput {
  let ids = 0x10;
  const drawId = () => hexId((ids += 1).toString(16).padStart(16, '0'));
  const plain = { mustSplit: false, mustReplace: false, splitInto: 0, freezeMs: 0, nowMs: 0 };
  return { snapshot, evaluation, attempt: ATTEMPT, drawId, ...plain, ...rest };
}

/** Expects lookups of these keys to find what the model has. */
export function expectModel(snapshot: Snapshot, model: Model, nowMs: number, keys: readonly string[]): void {
  const found = keys.map((key) => {
    const bytes = Buffer.from(key);
    const record = findRecord(snapshot.header, bytes, bytes, (ref) => pageOf(snapshot, ref, TABLE));
    return `${key} ${record === undefined || isExpired(record, nowMs) ? 'absent' : record.value[0]}`;
  });
  const wanted = keys.map((key) => {
    const record = model.get(key);
    return `${key} ${record === undefined || (record.expiresAtMs ?? Infinity) <= nowMs ? 'absent' : record.fill}`;
  });
  // Comparing two arrays by their elements takes much longer.
  expect(found.join()).toBe(wanted.join());
}

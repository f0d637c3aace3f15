// From an evaluation to what is written: the pure part of a commit. A patch where it fits, a replace where dead chunks crowd the entity,
// a split at 70 % of any budget.
import type { DriverLimits, Write } from '../contract/driver.ts';
import { type Id64, ROOT_CONTAINER } from '../format/bytes.ts';
import { encodeHeader, type Header } from '../format/header.ts';
import { asDeadSlot } from '../format/page-table.ts';
import { PURGE_AFTER_MS, deadShare } from './compaction.ts';
import type { Evaluation } from './evaluate.ts';
import { layersOf } from './layers.ts';
import { type PageRules, withChunksBefore } from './seal-page.ts';
import { fits, PATCH_SHARE, sizesOf, SPLIT_SHARE } from './size.ts';
import { isWhole, type Snapshot } from './snapshot.ts';
import { chooseSplitPoints } from './split-points.ts';
import { halvePage, nodeBudget, planSplit, type SplitInput, type SplitPlan, wholeNode } from './split.ts';
import { successor } from './successor.ts';
import { patchOf, replaceOf } from './writes.ts';

/** Where more than this share of a container's records is dead, its layers are merged before it is split: it may be small enough then. */
const DEAD_SHARE_MAX = 0.25;

/** A node as it is to be, and the write that makes it so. */
export interface Rewriting {
  readonly header: Header;
  readonly write: Write;
}

export type Plan =
  | ({ readonly kind: 'update' } & Rewriting)
  | { readonly kind: 'split'; readonly inserts: readonly Header[]; readonly left: Rewriting }
  /** All layers must be merged before this can be decided. */
  | { readonly kind: 'needs_merge' }
  /** The whole container must be read before this can be decided. */
  | { readonly kind: 'needs_whole' }
  | { readonly kind: 'too_large' };

export interface PlanInput extends SplitInput {
  readonly evaluation: Evaluation;
  readonly mustSplit: boolean;
}

/** What holds for all commits of a table's engine. */
export interface CommitRules extends PageRules {
  /** By these containers are split: the provider's, with the table's `containerBytesMax` for its largest entity. Only a lone record exceeds them. */
  readonly splitLimits: DriverLimits;
}

/** What is to be written for an evaluation. Pure: no I/O, and the same input gives the same plan but for the ids drawn. */
export function planCommit(input: PlanInput, rules: CommitRules): Plan {
  const { snapshot, evaluation, attempt } = input;
  const { limits, splitLimits } = rules;
  const header = nextHeader(snapshot.header, evaluation, attempt);
  const encoded = encodeHeader(header, snapshot.header);
  const { live, taken } = sizesOf(header, encoded.length, limits);
  if (input.mustSplit || !fits(live, splitLimits, SPLIT_SHARE)) {
    if (!isWhole(header)) return { kind: 'needs_whole' };
    if (wouldShedMuch(input, header, rules)) return { kind: 'needs_merge' };
    const plan = planSplitIfPossible(input, rules);
    if (plan !== undefined) return { kind: 'split', inserts: plan.inserts, left: rewriteLeft(input, plan.left, rules) };
    if (header.layers.length > 0) return { kind: 'needs_merge' };
    if (!fits(live, limits, 1)) return { kind: 'too_large' };
  }
  if (fits(taken, limits, PATCH_SHARE))
    return { kind: 'update', header, write: patchOf(snapshot, encoded, evaluation, attempt) };
  if (!isWhole(header)) return { kind: 'needs_whole' };
  return { kind: 'update', ...replaceNode(snapshot, header, attempt, rules) };
}

function nextHeader(before: Header, evaluation: Evaluation, attempt: Id64): Header {
  const { pages, layers, deadSlots, nextNumber } = evaluation;
  return { ...successor(before, attempt), pages, layers, deadSlots, nextNumber };
}

function wouldShedMuch({ snapshot, nowMs }: PlanInput, header: Header, { table }: PageRules): boolean {
  return header.layers.length > 0 && deadShare(snapshot, header, nowMs - PURGE_AFTER_MS, table) > DEAD_SHARE_MAX;
}

/** Undefined if the pages offer no split point, or if a node of the split would not fit: then layers are to be merged first. */
function planSplitIfPossible(input: PlanInput, rules: CommitRules): SplitPlan | undefined {
  const { snapshot, evaluation } = input;
  let { pages, nextNumber } = evaluation;
  const [only] = pages;
  if (pages.length === 1 && evaluation.layers.length === 0 && only !== undefined && only.records > 1)
    ({ pages, nextNumber } = halvePage(snapshot, only, nextNumber, rules));
  const layers = layersOf({ pages, layers: evaluation.layers });
  const budget = nodeBudget(pages, rules.splitLimits);
  // In a layer a large record's page may reach over many others, each of which would become a node of its own.
  if (layers.length > 1 && pages.some(({ sealedBytes }) => sealedBytes > budget.bytes)) return undefined;
  const lows = chooseSplitPoints(layers, snapshot.header.low, budget);
  if (lows.length < 2) return undefined;
  const plan = planSplit(input, { layers, lows }, nextNumber, rules);
  const nodes = [...plan.inserts, plan.left];
  return nodes.every((node) => fits(sizesOf(node, encodeHeader(node).length, rules.limits).live, rules.limits, 1))
    ? plan
    : undefined;
}

/**
 * The write of a split's left node. Usually a patch: pages that stay are not sent again, pages that moved leave dead slots behind. A replace where
 * dead slots would crowd the node, where the split is forced (the provider may have refused the entity as too large), and for a root, which
 * keeps nothing.
 */
function rewriteLeft({ snapshot, attempt, mustSplit }: PlanInput, left: Header, rules: PageRules): Rewriting {
  const { limits } = rules;
  if (mustSplit || left.container === ROOT_CONTAINER) return replaceNode(snapshot, left, attempt, rules);
  const before = new Map([...snapshot.header.pages, ...snapshot.header.deadSlots].map((one) => [one.slot, one]));
  const numbers = new Map(snapshot.header.pages.map(({ slot, number }) => [slot, number]));
  const pages = left.pages.map((ref) => withChunksBefore(ref, before.get(ref.slot)?.chunksMost ?? 0));
  const kept = new Set(pages.map(({ slot }) => slot));
  const deadSlots = [...before.values()].filter(({ slot }) => !kept.has(slot)).map(asDeadSlot);
  const header: Header = { ...left, pages, deadSlots };
  const encoded = encodeHeader(header);
  if (!fits(sizesOf(header, encoded.length, limits).taken, limits, PATCH_SHARE))
    return replaceNode(snapshot, left, attempt, rules);
  const written = pages
    .filter(({ slot, number }) => numbers.get(slot) !== number)
    .map((ref) => ({ ref, chunksBefore: before.get(ref.slot)?.chunksMost ?? 0 }));
  const dropped = snapshot.header.pages.filter(({ slot }) => !kept.has(slot));
  return { header, write: patchOf(snapshot, encoded, { written, dropped }, attempt) };
}

function replaceNode(snapshot: Snapshot, node: Header, attempt: Id64, rules: PageRules): Rewriting {
  const header = wholeNode(snapshot, node, rules);
  return { header, write: replaceOf(snapshot, header, attempt) };
}

// Decides how an evaluation is written: by a patch, by a replace if dead chunks take up too much of
// the entity, or by a split. Makes these writes. Pure.
import { chunksOf, type DriverLimits, type EntityId, type Part, type Write } from '../contract/driver.ts';
import { EMPTY_BYTES, type Id64, ROOT_CONTAINER } from '../format/bytes.ts';
import { COMMIT_PART, HEADER_PART, pagePart } from '../format/entity-ids.ts';
import { encodeHeader, type Header, successor } from '../format/header.ts';
import { asDeadSlot, PageContent, type PageRef } from '../format/page-table.ts';
import { isPurgeDue } from './compaction.ts';
import { fits, fitsWhole, isFull, PATCH_SHARE, sizesOf } from './container-size.ts';
import type { Evaluation } from './evaluate.ts';
import { layersOf } from './layers.ts';
import { movePage, type PageRules, withChunksBefore } from './new-pages.ts';
import { isWhole, type Snapshot } from './snapshot.ts';
import {
  chooseSplitPoints,
  cutPages,
  nodeBudget,
  planSplit,
  pointsAroundGroup,
  type SplitInput,
  type SplitPlan,
} from './split.ts';

/** The next header of a node, and the write that brings it about. */
export interface NodeWrite {
  readonly header: Header;
  readonly write: Write;
}

export type Plan =
  | ({ readonly kind: 'update' } & NodeWrite)
  | { readonly kind: 'split'; readonly inserts: readonly Header[]; readonly left: NodeWrite }
  /** To be planned again with all layers merged. */
  | { readonly kind: 'needs_merge' }
  /** To be planned again with all pages known. */
  | { readonly kind: 'needs_whole' }
  | { readonly kind: 'too_large' };

export interface PlanInput extends SplitInput {
  readonly evaluation: Evaluation;
  readonly mustSplit: boolean;
  /** Whether everything is written, as the stored entity lacks some of the pages (rule 27). */
  readonly mustReplace: boolean;
  /** Into how many nodes to split the container for contention; 0 for no such split. */
  readonly splitInto: number;
  /** How long an update asks others to wait (`Header.freezeMs`). */
  readonly freezeMs: number;
}

/** The rules for all commits of a table's engine. */
export interface CommitRules extends PageRules {
  /** The provider's, with the table's `containerBytesMax`. Only a lone record exceeds them. */
  readonly splitLimits: DriverLimits;
}

/** The writes for an evaluation. The same input gives the same plan, except for the ids drawn. */
export function planCommit(input: PlanInput, rules: CommitRules): Plan {
  const { snapshot, evaluation, attempt, freezeMs } = input;
  const { limits, splitLimits } = rules;
  const { pages, layers, deadSlots, nextNumber } = evaluation;
  const next = { ...successor(snapshot.header, attempt), pages, layers, deadSlots, nextNumber, freezeMs };
  const header = withoutNamesIfTight(next, rules, snapshot.header);
  const encoded = encodeHeader(header, snapshot.header);
  const { live, taken } = sizesOf(header, encoded.length, limits);
  const mustSplit = input.mustSplit || isFull(live, splitLimits);
  if (mustSplit || input.splitInto > 0) {
    if (!isWhole(header)) return { kind: 'needs_whole' };
    const wouldShedMuch = layers.length > 0 && isPurgeDue(snapshot, header, input.nowMs, rules.table);
    if (wouldShedMuch) return { kind: 'needs_merge' };
    const plan = planForTraffic(input, rules) ?? (mustSplit ? planSplitIfPossible(input, 0, rules) : undefined);
    if (plan !== undefined) return { kind: 'split', inserts: plan.inserts, left: rewriteLeft(input, plan.left, rules) };
    if (layers.length > 0) return { kind: 'needs_merge' };
    if (!fits(live, limits, 1)) return { kind: 'too_large' };
  }
  if (!input.mustReplace && fits(taken, limits, PATCH_SHARE))
    return { kind: 'update', header, write: patchOf(snapshot, encoded, evaluation, attempt) };
  if (!isWhole(header)) return { kind: 'needs_whole' };
  return { kind: 'update', ...replaceNode(snapshot, header, attempt, rules) };
}

/** A split into `splitInto` nodes, or half as many and so on if a root cannot name them. */
function planForTraffic(input: PlanInput, rules: CommitRules): SplitPlan | undefined {
  // The pages of a base are cut where the nodes begin. Layers have to be merged for that.
  if (input.evaluation.layers.length > 0) return undefined;
  for (let parts = input.splitInto; parts > 1; parts >>>= 1) {
    const plan = planSplitIfPossible(input, parts, rules);
    if (plan !== undefined) return plan;
  }
  return undefined;
}

/** A split into `parts` nodes, or as size asks for 0. Undefined if there is none, or not yet. */
function planSplitIfPossible(input: PlanInput, parts: number, rules: CommitRules): SplitPlan | undefined {
  const { snapshot, evaluation } = input;
  let { pages, nextNumber } = evaluation;
  if (evaluation.layers.length === 0)
    ({ pages, nextNumber } = cutPages(snapshot, pages, { nextNumber, parts: Math.max(2, parts) }, rules));
  const layers = layersOf({ pages, layers: evaluation.layers });
  const budget = nodeBudget(pages, parts, rules.splitLimits);
  // The page of a large record in a layer may overlap several pages, and would make each a node.
  if (layers.length > 1 && pages.some(({ sealedBytes }) => sealedBytes > budget.bytes)) return undefined;
  const chosen = chooseSplitPoints(layers, snapshot.header, budget);
  const lows = chosen.length > 1 ? chosen : pointsAroundGroup(snapshot, layers, rules.table);
  if (lows.length < 2) return undefined;
  const { inserts, left } = planSplit(input, { layers, lows }, nextNumber, rules);
  const plan = { inserts, left: withoutNamesIfTight(left, rules) };
  const nodes = [...plan.inserts, plan.left];
  return nodes.every((node) => fitsWhole(node, rules.limits)) ? plan : undefined;
}

/** The names of the last split only help others, so a container that is nearly full drops them. */
function withoutNamesIfTight(header: Header, { limits, splitLimits }: CommitRules, before?: Header): Header {
  if (header.lastSplit === undefined) return header;
  const { taken } = sizesOf(header, encodeHeader(header, before).length, limits);
  return isFull(taken, splitLimits) ? { ...header, lastSplit: undefined } : header;
}

/** The write of the split node: a patch, or a replace for a root, if forced, or for dead slots. */
function rewriteLeft(input: PlanInput, left: Header, rules: PageRules): NodeWrite {
  const { snapshot, attempt, mustSplit, mustReplace } = input;
  const { limits } = rules;
  if (mustSplit || mustReplace || left.container === ROOT_CONTAINER) return replaceNode(snapshot, left, attempt, rules);
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

/** Writes the stored bytes of all pages, from memory or sealed anew, and no dead chunks. */
function replaceNode(snapshot: Snapshot, node: Header, attempt: Id64, rules: PageRules): NodeWrite {
  let { nextNumber } = node;
  const pages = node.pages.map((ref) => {
    const { sealed, page } = ref.content;
    if (sealed === undefined) return movePage(snapshot, ref, { node, slot: ref.slot, number: nextNumber++ }, rules);
    // Not shared: a reader that expands it would drop the stored bytes before they are sent.
    const content = new PageContent(sealed, page);
    return { ...ref, chunksMost: chunksOf(ref.sealedBytes, rules.limits), content };
  });
  const header = { ...node, pages, deadSlots: [], nextNumber };
  return { header, write: replaceOf(snapshot, header, attempt) };
}

/** A patch with header, commit id and the pages `written`. It empties the slots `dropped`. */
export function patchOf(
  { id, version }: Snapshot,
  encodedHeader: Uint8Array,
  { written, dropped }: Pick<Evaluation, 'written' | 'dropped'>,
  attempt: Id64,
): Write {
  const parts = [
    ...ownParts(encodedHeader, attempt, 1),
    ...written.map(({ ref, chunksBefore }) => partOfPage(ref, chunksBefore)),
    ...dropped.map(({ slot, chunksMost }) => ({ name: pagePart(slot), bytes: EMPTY_BYTES, chunksBefore: chunksMost })),
  ];
  return { kind: 'patch', id, version, parts };
}

/** A replace with the whole node. The stored bytes of all pages must be in memory. */
export function replaceOf({ id, version }: Pick<Snapshot, 'id' | 'version'>, header: Header, attempt: Id64): Write {
  return { kind: 'replace', id, version, parts: wholeParts(header, attempt) };
}

/** An insert of the whole node. The stored bytes of all pages must be in memory. */
export function insertOf(id: EntityId, header: Header, attempt: Id64): Write {
  return { kind: 'insert', id, parts: wholeParts(header, attempt) };
}

function wholeParts(header: Header, attempt: Id64): Part[] {
  return [...ownParts(encodeHeader(header), attempt, 0), ...header.pages.map((ref) => partOfPage(ref, 0))];
}

function ownParts(encodedHeader: Uint8Array, attempt: Id64, chunksBefore: number): Part[] {
  return [
    { name: HEADER_PART, bytes: encodedHeader, chunksBefore },
    { name: COMMIT_PART, bytes: Buffer.from(attempt, 'hex'), chunksBefore },
  ];
}

function partOfPage({ slot, content: { sealed } }: PageRef, chunksBefore: number): Part {
  if (sealed === undefined) throw new Error(`page ${slot} is not in memory in its stored form`);
  return { name: pagePart(slot), bytes: sealed, chunksBefore };
}

// From an evaluation to what is written: the pure part of a commit. A patch where it fits, a replace where dead chunks crowd the entity,
// a split at 70 % of any budget.
import { EMPTY_BYTES, type Id64 } from './bytes.ts';
import { COMMIT_PART, fits, HEADER_PART, isWhole, pagePart, sizesOf, type Snapshot } from './container.ts';
import { chunksOf, type DriverLimits, type Part, type Write } from './driver.ts';
import type { Evaluation } from './evaluate.ts';
import {
  appendCommitId,
  HEADER_FIXED_BYTES,
  encodeHeader,
  type Header,
  HEADER_BYTES_MAX,
  type PageRef,
} from './header.ts';
import type { PageRules } from './page-ref.ts';
import { draftSplit, halvePage, type Run, type RunBudget, shareOut, type SplitDraft, wholePages } from './split.ts';

/** A container beyond this share of a budget is split. */
export const SPLIT_SHARE = 0.7;
/** New nodes are filled to about this share, so that they take a while to split again. */
const FILL_SHARE = 0.5;
/** With its dead chunks counted a container may take this much; then a replace sheds them. */
const PATCH_SHARE = 0.9;

/** A row of the page table, beside its low. */
const ROW_BYTES = 24;

export type Plan =
  | { readonly kind: 'update'; readonly header: Header; readonly write: Write }
  | { readonly kind: 'split'; readonly draft: SplitDraft }
  /** All layers must be merged before this can be decided. */
  | { readonly kind: 'needs_merge' }
  /** The whole container must be read before this can be decided. */
  | { readonly kind: 'needs_whole' }
  | { readonly kind: 'too_large' };

export interface PlanInput {
  readonly snapshot: Snapshot;
  readonly evaluation: Evaluation;
  readonly attempt: Id64;
  readonly mustSplit: boolean;
  readonly nowMs: number;
  drawId(): Id64;
}

export function planCommit(input: PlanInput, rules: PageRules): Plan {
  const { snapshot, evaluation, attempt } = input;
  const { limits } = rules;
  const header = nextHeader(snapshot.header, evaluation, attempt);
  const encoded = encodeHeader(header, snapshot.header);
  const { live, taken } = sizesOf(header, encoded.length, limits);
  if (input.mustSplit || !fits(live, limits, SPLIT_SHARE)) {
    if (!isWhole(header)) return { kind: 'needs_whole' };
    if (header.layers.length > 0) return { kind: 'needs_merge' };
    const draft = trySplit(input, rules);
    if (draft !== undefined) return { kind: 'split', draft };
    if (!fits(live, limits, 1)) return { kind: 'too_large' };
  }
  if (fits(taken, limits, PATCH_SHARE))
    return { kind: 'update', header, write: patchOf(snapshot, encoded, evaluation, attempt) };
  if (!isWhole(header)) return { kind: 'needs_whole' };
  const whole = wholePages(snapshot, evaluation.pages, evaluation.nextNumber, rules);
  const replacement: Header = { ...header, ...whole, deadSlots: [] };
  return { kind: 'update', header: replacement, write: replaceOf(snapshot, replacement, attempt) };
}

function nextHeader(before: Header, evaluation: Evaluation, attempt: Id64): Header {
  return {
    ...before,
    pages: evaluation.pages,
    layers: evaluation.layers,
    deadSlots: evaluation.deadSlots,
    nextNumber: evaluation.nextNumber,
    commitCount: before.commitCount + 1,
    commitIds: appendCommitId(before.commitIds, attempt),
  };
}

function trySplit(input: PlanInput, rules: PageRules): SplitDraft | undefined {
  const { snapshot } = input;
  let { pages, nextNumber } = input.evaluation;
  const [only] = pages;
  if (pages.length === 1 && only !== undefined && only.records > 1)
    ({ pages, nextNumber } = halvePage(snapshot, only, nextNumber, rules));
  if (pages.length < 2) return undefined;
  const runs = shareOut(pages, snapshot.header.low, runBudget(pages, rules.limits));
  return draftRuns(input, runs, nextNumber, rules);
}

export function draftRuns(
  input: Omit<PlanInput, 'evaluation' | 'mustSplit'>,
  runs: readonly Run[],
  nextNumber: number,
  rules: PageRules,
): SplitDraft {
  const ids = runs.map(() => input.drawId());
  return draftSplit(input.snapshot, runs, nextNumber, input.attempt, ids, input.nowMs, rules);
}

/** Shares of whichever budget (the entity's bytes, its chunks, the header) these pages use up first. */
function runBudget(pages: readonly PageRef[], limits: DriverLimits): RunBudget {
  let pageBytes = 0;
  let chunks = 0;
  let rowBytes = 0;
  for (const ref of pages) {
    pageBytes += ref.sealedBytes;
    chunks += chunksOf(ref.sealedBytes, limits);
    rowBytes += ROW_BYTES + ref.low.length;
  }
  const entityBytes = limits.entityBytesMax - limits.entityOverheadBytes - HEADER_FIXED_BYTES;
  const byEntity = entityBytes / (pageBytes + chunks * limits.chunkOverheadBytes + rowBytes);
  const byHeader = (HEADER_BYTES_MAX - HEADER_FIXED_BYTES) / rowBytes;
  const full = pageBytes * Math.min(byEntity, byHeader, limits.chunksMax / chunks);
  return { bytes: Math.max(1, FILL_SHARE * full), bytesMax: PATCH_SHARE * full };
}

function part(name: string, bytes: Uint8Array, chunksBefore: number): Part {
  return { name, bytes, chunksBefore };
}

function ownParts(encodedHeader: Uint8Array, attempt: Id64, chunksBefore: number): Part[] {
  return [part(HEADER_PART, encodedHeader, chunksBefore), part(COMMIT_PART, Buffer.from(attempt, 'hex'), chunksBefore)];
}

function pageBytesOf(ref: PageRef): Uint8Array {
  if (ref.content.sealed === undefined) throw new Error(`page ${ref.slot} is not at hand in its stored form`);
  return ref.content.sealed;
}

function patchOf(snapshot: Snapshot, encodedHeader: Uint8Array, evaluation: Evaluation, attempt: Id64): Write {
  const parts = [
    ...ownParts(encodedHeader, attempt, 1),
    ...evaluation.written.map(({ ref, chunksBefore }) => part(pagePart(ref.slot), pageBytesOf(ref), chunksBefore)),
    ...evaluation.dropped.map((ref) => part(pagePart(ref.slot), EMPTY_BYTES, ref.chunksMost)),
  ];
  return { kind: 'patch', id: snapshot.id, version: snapshot.version, parts };
}

function wholeParts(header: Header, attempt: Id64): Part[] {
  const pages = header.pages.map((ref) => part(pagePart(ref.slot), pageBytesOf(ref), 0));
  return [...ownParts(encodeHeader(header), attempt, 0), ...pages];
}

export function replaceOf(snapshot: Snapshot, header: Header, attempt: Id64): Write {
  return { kind: 'replace', id: snapshot.id, version: snapshot.version, parts: wholeParts(header, attempt) };
}

export function insertOf(id: string, header: Header, attempt: Id64): Write {
  return { kind: 'insert', id, parts: wholeParts(header, attempt) };
}

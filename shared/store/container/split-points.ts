// Where a container is cut, pure: its pages are shared out by their bytes, or, of an empty one that begins pre-split, its positions evenly.
import { compareBytes, EMPTY_BYTES } from '../format/bytes.ts';
import type { PageRef } from '../format/page-table.ts';
import type { Position } from '../format/position.ts';

/** What is cut, and where. */
export interface SplitPoints {
  /** The rows of each layer, the base first. */
  readonly layers: readonly (readonly PageRef[])[];
  /** Where each node begins that comes of it, in order: the first where the old one did. */
  readonly lows: readonly Position[];
}

/** Page bytes that a new node should take, and may take at most. */
export interface NodeBudget {
  readonly bytes: number;
  readonly bytesMax: number;
}

/** A position at which pages begin. */
interface Candidate {
  readonly low: Position;
  /** Of the pages that begin here. */
  readonly bytes: number;
  /** Of the pages that began before it and may reach over it: a node that begins here takes a part of them. */
  readonly bytesAcross: number;
}

/**
 * The lows of the nodes that these layers are shared out into: at least two of about equal bytes (given two positions at which pages begin),
 * each of about `bytes`, and none in which pages begin at several positions above `bytesMax`, pages that are cut counted whole. Of a page
 * that is cut a node may get nothing: with several layers one may remain empty, which harms nothing.
 */
export function chooseSplitPoints(
  layers: SplitPoints['layers'],
  low: Position,
  { bytes, bytesMax }: NodeBudget,
): Position[] {
  const candidates = candidatesOf(layers);
  const total = candidates.reduce((sum, candidate) => sum + candidate.bytes, 0);
  const count = Math.min(candidates.length, Math.max(2, Math.ceil(total / bytes)));
  const share = total / count;
  const lows: Position[] = [];
  let bytesBefore = 0;
  let nodeBytes = 0;
  for (const [index, candidate] of candidates.entries()) {
    const isDue = bytesBefore + candidate.bytes / 2 >= share * lows.length;
    const mustBegin = candidates.length - index <= count - lows.length;
    const isFull = nodeBytes + candidate.bytes > bytesMax;
    if (lows.length === 0 || isFull || (lows.length < count && (isDue || mustBegin))) {
      lows.push(lows.length === 0 ? low : candidate.low);
      nodeBytes = candidate.bytesAcross;
    }
    nodeBytes += candidate.bytes;
    bytesBefore += candidate.bytes;
  }
  return lows;
}

function candidatesOf(layers: SplitPoints['layers']): Candidate[] {
  const begins = layers.flatMap((rows, layer) => rows.map((ref) => ({ layer, ref })));
  begins.sort((a, b) => compareBytes(a.ref.low, b.ref.low));
  /** Of each layer the bytes of the page that began last. */
  const open = layers.map(() => 0);
  const candidates: Candidate[] = [];
  for (let first = 0; first < begins.length;) {
    const { low } = begins[first]!.ref;
    const across = open.slice();
    let bytes = 0;
    for (; first < begins.length && compareBytes(begins[first]!.ref.low, low) === 0; first += 1) {
      const { layer, ref } = begins[first]!;
      bytes += ref.sealedBytes;
      open[layer] = ref.sealedBytes;
      across[layer] = 0;
    }
    candidates.push({ low, bytes, bytesAcross: across.reduce((sum, each) => sum + each, 0) });
  }
  return candidates;
}

/** The cut of an empty node at evenly spaced hash positions: how a pre-split table begins. */
export function evenSplitPoints(count: number): SplitPoints {
  const lows = Array.from({ length: count }, (_, index) => (index === 0 ? EMPTY_BYTES : evenPosition(index, count)));
  return { layers: [[]], lows };
}

function evenPosition(index: number, count: number): Position {
  const position = Buffer.alloc(2);
  position.writeUInt16BE(Math.floor((index * 0x10000) / count));
  return position;
}

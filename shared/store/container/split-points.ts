// Chooses where a container is split: by the bytes of its pages, or evenly for a new table. Pure.
import { compareBytes, EMPTY_BYTES } from '../format/bytes.ts';
import type { PageRef } from '../format/page-table.ts';
import type { Header } from '../format/header.ts';
import { groupOf, type Position } from '../format/position.ts';

/** The pages to share out among nodes, and the lows of these nodes. */
export interface SplitPoints {
  /** The rows of each layer, the base first. */
  readonly layers: readonly (readonly PageRef[])[];
  /** The lows of the nodes, sorted. The first is that of the node that is split. */
  readonly lows: readonly Position[];
}

/** How many bytes of pages a new node should have, and may have at most. */
export interface NodeBudget {
  readonly bytes: number;
  readonly bytesMax: number;
}

/** A position at which pages begin, and at which a node may. */
interface Candidate {
  readonly low: Position;
  /** Bytes of the pages that begin here. */
  readonly bytes: number;
  /** Bytes of the pages that begin before this position and may extend beyond it. */
  readonly bytesAcross: number;
}

/**
 * The lows of the nodes, equal in bytes: at least two if pages begin in two groups, else one. A
 * page that extends over a split point counts on both sides.
 */
export function chooseSplitPoints(
  layers: SplitPoints['layers'],
  { low, level, groupBy }: Pick<Header, 'low' | 'level' | 'groupBy'>,
  { bytes, bytesMax }: NodeBudget,
): Position[] {
  const candidates = candidatesOf(layers, (at) => (level > 0 || groupBy === undefined ? at : groupOf(at, groupBy)));
  // A page too large for any node counts as one filled node, so that its neighbours stay together.
  const weightOf = (candidate: Candidate): number => (candidate.bytes > bytesMax ? bytes : candidate.bytes);
  const total = candidates.reduce((sum, candidate) => sum + weightOf(candidate), 0);
  const count = Math.min(candidates.length, Math.max(2, Math.ceil(total / bytes)));
  const share = total / count;
  const lows: Position[] = [];
  let bytesBefore = 0;
  let nodeBytes = 0;
  for (const [index, candidate] of candidates.entries()) {
    const weight = weightOf(candidate);
    const isDue = bytesBefore + weight / 2 >= share * lows.length;
    const mustBegin = candidates.length - index <= count - lows.length;
    const isFull = nodeBytes + candidate.bytes > bytesMax;
    if (lows.length === 0 || isFull || (lows.length < count && (isDue || mustBegin))) {
      lows.push(lows.length === 0 ? low : candidate.low);
      nodeBytes = candidate.bytesAcross;
    }
    nodeBytes += candidate.bytes;
    bytesBefore += weight;
  }
  return lows;
}

/** `boundary` returns where a node may begin for a page with this low. */
function candidatesOf(layers: SplitPoints['layers'], boundary: (low: Position) => Position): Candidate[] {
  const begins = layers.flatMap((rows, layer) => rows.map((ref) => ({ layer, low: boundary(ref.low), ref })));
  begins.sort((a, b) => compareBytes(a.low, b.low));
  /** For each layer the bytes of its page that began last. */
  const open = layers.map(() => 0);
  const candidates: Candidate[] = [];
  for (let first = 0; first < begins.length;) {
    const { low } = begins[first]!;
    const across = open.slice();
    let bytes = 0;
    for (; first < begins.length && compareBytes(begins[first]!.low, low) === 0; first += 1) {
      const { layer, ref } = begins[first]!;
      bytes += ref.sealedBytes;
      open[layer] = ref.sealedBytes;
      across[layer] = 0;
    }
    candidates.push({ low, bytes, bytesAcross: across.reduce((sum, each) => sum + each, 0) });
  }
  return candidates;
}

/** Evenly spaced positions of hashes, for the leaves of a new table. */
export function evenSplitPoints(count: number): SplitPoints {
  const lows = Array.from({ length: count }, (_, index) => (index === 0 ? EMPTY_BYTES : evenPosition(index, count)));
  return { layers: [[]], lows };
}

function evenPosition(index: number, count: number): Position {
  const position = Buffer.alloc(2);
  position.writeUInt16BE(Math.floor((index * 0x10000) / count));
  return position;
}

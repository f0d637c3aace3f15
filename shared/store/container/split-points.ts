// Split points, pure: by the bytes of pages, or evenly if the container is empty (pre-split).
import { compareBytes, EMPTY_BYTES } from '../format/bytes.ts';
import type { PageRef } from '../format/page-table.ts';
import type { Header } from '../format/header.ts';
import { groupOf, type Position } from '../format/position.ts';

/** The pages that are split among nodes, and the lows of these nodes. */
export interface SplitPoints {
  /** The rows of each layer, the base first. */
  readonly layers: readonly (readonly PageRef[])[];
  /** The low of each node, in order. The first is the low of the node that is split. */
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
  /** Bytes of the pages that begin here. */
  readonly bytes: number;
  /** Bytes of pages that begin before and may reach over this position. */
  readonly bytesAcross: number;
}

/** Two lows at least if pages begin in two groups. A page over a point counts on both sides. */
export function chooseSplitPoints(
  layers: SplitPoints['layers'],
  { low, level, groupBy }: Pick<Header, 'low' | 'level' | 'groupBy'>,
  { bytes, bytesMax }: NodeBudget,
): Position[] {
  const candidates = candidatesOf(layers, (at) => (level > 0 || groupBy === undefined ? at : groupOf(at, groupBy)));
  // A page that no node has room for fills one, and must not spread its neighbours over others.
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

/** `boundary`: where a node may begin for a page that begins there. */
function candidatesOf(layers: SplitPoints['layers'], boundary: (low: Position) => Position): Candidate[] {
  const begins = layers.flatMap((rows, layer) => rows.map((ref) => ({ layer, low: boundary(ref.low), ref })));
  begins.sort((a, b) => compareBytes(a.low, b.low));
  /** For each layer the bytes of the page that began last. */
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

/** Evenly spaced hash positions: how a pre-split table begins. */
export function evenSplitPoints(count: number): SplitPoints {
  const lows = Array.from({ length: count }, (_, index) => (index === 0 ? EMPTY_BYTES : evenPosition(index, count)));
  return { layers: [[]], lows };
}

function evenPosition(index: number, count: number): Position {
  const position = Buffer.alloc(2);
  position.writeUInt16BE(Math.floor((index * 0x10000) / count));
  return position;
}

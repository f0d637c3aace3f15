// One run as the report shows it, and the places that runs were in, each once.
import type { CellResult } from '../load/cell.ts';
import { encodeHistogram, latenciesOf } from '../kit/histogram.ts';
import { mergeParts, rateOf } from '../plan/merge.ts';
import type { CellRun } from '../plan/outcome.ts';
import type { ReportRun } from './schema.ts';
import type { Place } from '../load/place.ts';

/** Windows that open further apart than this share of their length had no load together. */
const SKEW_MOST = 0.1;

export function runOf({ repetition, parts }: CellRun, places: Places): ReportRun {
  const { histogram, recordsPerCall: _, recordsPerSecond, ...merged } = mergeParts(parts);
  const firstMs = Math.min(...parts.map(({ openedAtMs }) => openedAtMs));
  return {
    repetition,
    startedAt: new Date(firstMs).toISOString(),
    recordsPerSecond: Math.round(recordsPerSecond * 100) / 100,
    ...merged,
    operations: histogram.totalCount,
    latency: latenciesOf(histogram),
    histogram: encodeHistogram(histogram),
    isSound: parts.every((part) => isSound(part, part.openedAtMs - firstMs)),
    parts: parts.map((part) => partOf(part, part.openedAtMs - firstMs, places)),
  };
}

function isSound({ warmup, isCold, isHeldByRamp, durationMs }: CellResult, skewMs: number): boolean {
  return warmup.steadiness === 'steady' && !isCold && !isHeldByRamp && skewMs <= SKEW_MOST * durationMs;
}

function partOf(part: CellResult, skewMs: number, places: Places): ReportRun['parts'][number] {
  const { warmup, processor } = part;
  return {
    place: places.indexOf(part.place),
    isCold: part.isCold,
    uptimeMs: part.uptimeMs,
    firstOperationMs: part.firstOperationMs,
    warmupMs: warmup.durationMs,
    steadiness: warmup.steadiness,
    warmupErrors: warmup.errors,
    skewMs,
    durationMs: part.durationMs,
    recordsPerSecond: rateOf(part),
    behindMsMax: part.behindMsMax,
    isHeldByRamp: part.isHeldByRamp,
    processorWait: processor.wait,
    processorStolen: processor.stolen,
    processorBusy: processor.busy,
    memoryBytes: part.memoryBytes,
  };
}

export class Places {
  readonly all: Place[] = [];
  readonly #indexes = new Map<string, number>();

  indexOf(place: Place): number {
    const name = JSON.stringify(place);
    const known = this.#indexes.get(name);
    if (known !== undefined) return known;
    this.#indexes.set(name, this.all.length);
    return this.all.push(place) - 1;
  }
}

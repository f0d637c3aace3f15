// One run as the report shows it, and the places that runs were in, each once.
import type { CellResult } from '../load/cell.ts';
import { encodeHistogram, latenciesOf } from '../kit/histogram.ts';
import { sum } from '../kit/numbers.ts';
import { mergeParts, rateOf } from '../plan/merge.ts';
import type { CellRun } from '../plan/outcome.ts';
import type { Place } from '../load/instance-place.ts';
import { MARKS, marksOf } from './marks.ts';
import type { ReportRun } from './report-schema.ts';

export function runOf({ repetition, parts }: CellRun, places: Places): ReportRun {
  const { histogram, recordsPerCall: _, recordsPerSecond, ...merged } = mergeParts(parts);
  const firstMs = Math.min(...parts.map(({ openedAtMs }) => openedAtMs));
  const marked = new Set(parts.flatMap((part) => marksOf(part, part.openedAtMs - firstMs)));
  return {
    repetition,
    startedAt: new Date(firstMs).toISOString(),
    recordsPerSecond: Math.round(recordsPerSecond * 100) / 100,
    ...merged,
    operations: histogram.totalCount,
    latency: latenciesOf(histogram),
    histogram: encodeHistogram(histogram),
    processorUsPerRecord: sum(parts.map(({ processorUs }) => processorUs)) / merged.recordsTotal,
    marks: MARKS.filter((mark) => marked.has(mark)),
    parts: parts.map((part) => partOf(part, part.openedAtMs - firstMs, places)),
  };
}

function partOf(part: CellResult, skewMs: number, places: Places): ReportRun['parts'][number] {
  const { isCold, uptimeMs, firstOperationMs, durationMs, behindMsMax, isHeldByRamp, memoryBytes } = part;
  const { warmup, processor } = part;
  return {
    place: places.indexOf(part.place),
    isCold,
    uptimeMs,
    firstOperationMs,
    durationMs,
    behindMsMax,
    isHeldByRamp,
    memoryBytes,
    warmupMs: warmup.durationMs,
    steadiness: warmup.steadiness,
    warmupErrors: warmup.errors,
    skewMs,
    recordsPerSecond: rateOf(part),
    processorWait: processor.wait,
    processorStolen: processor.stolen,
    processorBusy: processor.busy,
    emulatorBusy: processor.emulatorBusy,
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

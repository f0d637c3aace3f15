// Sums up what one verification has counted and found.
import type { Fault, Stretch } from '../container/check.ts';
import { pageBytesOf } from '../container/snapshot.ts';
import type { EntityId } from '../contract/driver.ts';
import type { Finding, FindingKind, LevelReport, VerifyOptions, VerifyReport } from '../contract/admin.ts';
import { asBuffer } from '../format/bytes.ts';
import { encodeHeader, type Header } from '../format/header.ts';
import { HASH_BYTES, type Position } from '../format/position.ts';

/** The most findings that a report keeps. */
const FINDINGS_KEPT = 1_000;

type Reported = Stretch & Pick<Finding, 'message'> & Partial<Pick<Fault, 'slot' | 'key'>>;

/** What one container adds to a report. */
export interface Counts extends Omit<LevelReport, 'containers'> {
  readonly records: number;
}

export function countsOf(header: Header, records: number): Counts {
  const bytes = pageBytesOf(header) + encodeHeader(header).length;
  return { level: header.level, pages: header.pages.length, bytes, records };
}

export class VerifyTally {
  readonly #onFinding: VerifyOptions['onFinding'];
  readonly #levels = new Map<number, { -readonly [Name in keyof LevelReport]: number }>();
  readonly #created: number[] = [];
  readonly #findings: Finding[] = [];
  readonly #reported = new Set<string>();
  #records = 0;
  #findingCount = 0;
  /** Containers that no link leads to. */
  unlinked = 0;
  /** Whether positions are shown as hashes. */
  isHashed = false;

  constructor(onFinding: VerifyOptions['onFinding']) {
    this.#onFinding = onFinding;
  }

  /** Counts a container; with `sign` -1 takes its count back. */
  count({ level, pages, bytes, records }: Counts, sign: 1 | -1): void {
    const own = this.#levels.get(level) ?? { level, containers: 0, pages: 0, bytes: 0 };
    own.containers += sign;
    own.pages += sign * pages;
    own.bytes += sign * bytes;
    this.#levels.set(level, own);
    this.#records += sign * records;
  }

  created(createdAtMs: number): void {
    const [oldestMs = createdAtMs, newestMs = createdAtMs] = this.#created;
    this.#created.splice(0, 2, Math.min(oldestMs, createdAtMs), Math.max(newestMs, createdAtMs));
  }

  /** Reports a fault, but only once if its container is read twice. */
  report(kind: FindingKind, container: EntityId, { from, to, message, slot, key }: Reported): void {
    const name = JSON.stringify([container, slot, key, message]);
    if (this.#reported.has(name)) return;
    if (this.#reported.size < FINDINGS_KEPT) this.#reported.add(name);
    const finding: Finding = { kind, container, page: slot, key, ...shown({ from, to }, this.isHashed), message };
    this.#findingCount += 1;
    if (this.#findings.length < FINDINGS_KEPT) this.#findings.push(finding);
    this.#onFinding?.(finding);
  }

  result(entityBytesMax: number): VerifyReport {
    const levels = [...this.#levels.values()].toSorted((a, b) => b.level - a.level);
    const leaves = this.#levels.get(0) ?? { containers: 0, bytes: 0 };
    const sum = (name: keyof LevelReport): number => levels.reduce((total, level) => total + level[name], 0);
    const [oldestMs, newestMs] = this.#created;
    return {
      containers: sum('containers'),
      branches: sum('containers') - leaves.containers,
      pages: sum('pages'),
      records: this.#records,
      bytes: sum('bytes'),
      levels,
      fill: leaves.containers === 0 ? 0 : leaves.bytes / (leaves.containers * entityBytesMax),
      oldestMs,
      newestMs,
      unlinked: this.unlinked,
      findingCount: this.#findingCount,
      findings: this.#findings,
    };
  }
}

/** A stretch of positions as reports show it. */
export function shown({ from, to }: Stretch, isHashed: boolean): Pick<Finding, 'from' | 'to'> {
  const show = (position: Position): string => {
    const bytes = asBuffer(position);
    if (!isHashed) return bytes.toString('utf8');
    return `${bytes.toString('hex', 0, HASH_BYTES)} ${bytes.toString('utf8', HASH_BYTES)}`.trim();
  };
  return { from: show(from), to: to && show(to) };
}

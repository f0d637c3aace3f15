// The order of writers of one container, by headers. A wrong guess costs throughput, not records.
import type { Snapshot } from '../container/snapshot.ts';
import type { Runtime } from '../contract/runtime.ts';
import { asBuffer, type Id64, ID64_BYTES } from '../format/bytes.ts';
import type { Header } from '../format/header.ts';

/** Hexadecimal digits. Two processes with one tag write at once, and one of them is refused. */
export const TAG_DIGITS = 4;
/** A process that wrote none of the last so many commits has left. */
const COMMITS_REMEMBERED = 32;
/** However long a header asks for, and however many wait: then a process looks again. */
const REST_MOST_MS = 1_000;
/** Most splits end before their hold does: it is looked at so often. */
const LOOKS_A_HOLD = 4;
/** A split takes a reply, the slowest insert of its nodes, and the way of its link. */
const HOLD_ROUND_TRIPS = 5;
/** A split may have to read its pages, and writes most of them anew. */
const SPLIT_BYTES_A_MS = 2_048;
/** After trouble so many own commits are wary: they yield, follow a look, or go alone. */
export const WARY_COMMITS = 8;
/** Processes yield where so many commits are made while one is under way. */
const CROWD_TO_YIELD = 0.25;
/** A refusal that comes at once holds nobody up: there turns cost more than refusals do. */
const CROWD_TO_YIELD_AT_ONCE = 0.5;
/** A writer that the header does not name waits at random, up to 2 to the power of this. */
const UNNAMED_DOUBLINGS_MOST = 3;
/** Refusals in a row before a writer waits at random: one may be chance, a line is none. */
const REFUSALS = 2;
const LINE_REFUSALS = 1;
/** One that stood in line waits at random, up to so many times as long: lines dissolve. */
const LINES_RESTED = 2;
/** The second in order tries at once: where a refusal is cheap the rate is a quarter higher. */
const WRITERS_AT_ONCE = 2;
/** For each writer ahead of these: less than the mean, so that the rate can rise. */
const WAIT_SHARE = 0.3;
const WAIT_ROUND_TRIPS_LEAST = 0.4;

/** The rest that a process knows, beside the container's own header. */
export interface Contest {
  readonly nowMs: number;
  readonly runtime: Pick<Runtime, 'random'>;
  /** This process's, see `writersAhead`. */
  readonly tag: string;
  readonly roundTripMs: number;
  /** The driver's: whether commits stand in line at one entity, instead of a refusal at once. */
  readonly commitsWait: boolean;
  /** How long the last commit took, if it stood in line at its entity; else 0. */
  readonly lineMs: number;
  /** Commits of the container by all processes. */
  readonly commitsPerMs: number;
}

/** One process's place among the writers of one container. */
export class WriterOrder {
  /** Own commits before which it still yields. */
  #yieldsLeft = 0;
  #refusalsInARow = 0;
  /** How many of these it has rested for. */
  #refusalsRested = 0;
  /** The commit after which it rests, and until when. */
  #restsAfter: Id64 | undefined;
  #restUntilMs = 0;

  /** Whether commits of other processes were seen lately. */
  get meetsOthers(): boolean {
    return this.#yieldsLeft > 0;
  }

  /** A commit of another process was seen. */
  noteForeign(): void {
    this.#yieldsLeft = WARY_COMMITS;
  }

  /** An own commit was refused, as another had come before. */
  noteRefusal(): void {
    this.noteForeign();
    this.#refusalsInARow += 1;
  }

  noteCommit(): void {
    this.#yieldsLeft = Math.max(0, this.#yieldsLeft - 1);
    this.#refusalsInARow = 0;
  }

  /** This process itself asked others to hold, by the commit `attempt`. */
  noteOwnHold(attempt: Id64): void {
    this.#restsAfter = attempt;
    this.#restUntilMs = 0;
  }

  /** Whether nothing asks this process to rest. */
  mayWrite({ header }: Snapshot): boolean {
    return this.#yieldsLeft === 0 && header.holdForMs === 0;
  }

  /** As `Traffic.restMs`. */
  restMs(snapshot: Snapshot, contest: Contest): number {
    const { header, lastCommit } = snapshot;
    const { nowMs } = contest;
    if (this.#restsAfter !== lastCommit) {
      this.#restsAfter = lastCommit;
      const restMs = header.holdForMs || this.#yieldMs(header, contest);
      this.#restUntilMs = restMs === 0 ? 0 : nowMs + Math.min(REST_MOST_MS, restMs);
    }
    const leftMs = Math.max(0, this.#restUntilMs - nowMs);
    // Nobody came: the writers ahead have left.
    if (leftMs === 0 && this.#restUntilMs > 0) this.#yieldsLeft = 0;
    return header.holdForMs > 0 ? Math.min(leftMs, header.holdForMs / LOOKS_A_HOLD) : leftMs;
  }

  #yieldMs(header: Header, contest: Contest): number {
    const { commitsPerMs, roundTripMs, commitsWait, lineMs, tag, runtime } = contest;
    if (lineMs > 0 && this.#mustThinOut(LINE_REFUSALS)) return this.#atRandomMs(LINES_RESTED * lineMs, runtime);
    if (commitsPerMs * roundTripMs < (commitsWait ? CROWD_TO_YIELD : CROWD_TO_YIELD_AT_ONCE)) return 0;
    const ahead = writersAhead(header, tag);
    if (ahead === undefined) {
      const doublings = Math.min(UNNAMED_DOUBLINGS_MOST, this.#refusalsInARow);
      return this.#mustThinOut(REFUSALS) ? this.#atRandomMs(roundTripMs * 2 ** doublings, runtime) : 0;
    }
    return (
      Math.max(0, ahead + 1 - WRITERS_AT_ONCE) *
      Math.max(WAIT_ROUND_TRIPS_LEAST * roundTripMs, WAIT_SHARE / commitsPerMs)
    );
  }

  /** Writers that do not know of each other thin out by random rests, after so many refusals. */
  #mustThinOut(refusals: number): boolean {
    return this.#refusalsInARow >= refusals && this.#refusalsInARow !== this.#refusalsRested;
  }

  #atRandomMs(mostMs: number, runtime: Contest['runtime']): number {
    this.#refusalsRested = this.#refusalsInARow;
    return (mostMs * asBuffer(runtime.random(1)).readUInt8()) / 0xff;
  }
}

/** How long others should leave alone a container of so many page bytes while it is split. */
export function holdMs(pageBytes: number, roundTripMs: number): number {
  const tookMs = HOLD_ROUND_TRIPS * roundTripMs + pageBytes / SPLIT_BYTES_A_MS;
  return Math.min(REST_MOST_MS, Math.ceil(tookMs));
}

/** Processes that wrote less recently, by the last ids; undefined if not named. */
export function writersAhead({ commitIds }: Header, tag: string): number | undefined {
  const first = Math.max(0, commitIds.length - COMMITS_REMEMBERED * ID64_BYTES);
  const recent = new Set<string>();
  let ahead = 0;
  let isNamed = false;
  for (let at = commitIds.length - ID64_BYTES; at >= first; at -= ID64_BYTES) {
    const each = tagOf(commitIds, at);
    if (recent.has(each)) continue;
    recent.add(each);
    if (each === tag) isNamed = true;
    else if (isNamed) ahead += 1;
  }
  return isNamed ? ahead : undefined;
}

/** The tags of the processes that made the commits after number `count`, of those it names. */
export function writersSince({ commitCount, commitIds }: Header, count: number): Set<string> {
  const bytes = Math.min(commitIds.length, Math.max(0, commitCount - count) * ID64_BYTES);
  const tags = new Set<string>();
  for (let at = commitIds.length - bytes; at < commitIds.length; at += ID64_BYTES) tags.add(tagOf(commitIds, at));
  return tags;
}

function tagOf(ids: Uint8Array, at: number): string {
  return asBuffer(ids).toString('hex', at, at + TAG_DIGITS / 2);
}

/** An attempt's id: the tag of its process, the rest of it drawn. */
export function tagged(id: Id64, tag: string): Id64 {
  return `${tag}${id.slice(TAG_DIGITS)}` as Id64;
}

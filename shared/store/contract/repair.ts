// A repair of a table: what `store.repair` takes away, asks and reports.
import type { CallOptions } from './options.ts';
import type { VerifyReport } from './verify.ts';

/** One container as a repair found it, and what the table loses with it. */
export interface Taken {
  /** The entity's id at the provider. */
  readonly container: string;
  /** Its stored parts by name, as they were read. Empty for one that is missing. */
  readonly parts: Readonly<Record<string, Uint8Array>>;
  /** Stretches, as in `Finding`, from which records are missing, as far as there were any. */
  readonly lost: readonly { readonly from: string; readonly to: string | undefined }[];
  /** Records that are taken away, as their value cannot be decoded or they lie in a wrong place. */
  readonly lostKeys: readonly string[];
  /**
   * Records that stay, beneath an unreadable page: it may have held a newer value, or their
   * deletion. Their versions are new.
   */
  readonly olderKeys: readonly string[];
}

/** Options of a repair. `timeoutMs` bounds all of it: a day by default. */
export interface RepairOptions extends CallOptions {
  /**
   * Keeps what is taken away. Nothing is changed before its promise resolves; a rejection ends the
   * repair. After a lost race it may hear of a container again.
   */
  readonly save: (taken: Taken) => Promise<void>;
  /** Tells `save` what would be taken away at first, and writes nothing. Default false. */
  readonly dryRun?: boolean;
}

export interface RepairReport {
  /** Containers that were written anew, inserted or removed. */
  readonly mended: number;
  /** The last verification. Findings that are left are none that a repair understands. */
  readonly verified: VerifyReport;
}

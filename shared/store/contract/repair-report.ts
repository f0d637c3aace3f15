// What `store.repair` takes away, asks for and reports.
import type { CallOptions } from './options.ts';
import type { VerifyReport } from './verify-report.ts';

/** One container as a repair found it, and what the table loses by the repair. */
export interface Taken {
  /** The entity's id at the provider. */
  readonly container: string;
  /** Its stored parts by name, as they were read. Empty if the container is missing. */
  readonly parts: Readonly<Record<string, Uint8Array>>;
  /** Stretches, as in `Finding`, whose records are lost, if there were any. */
  readonly lost: readonly { readonly from: string; readonly to: string | undefined }[];
  /** Records that are taken away, since they cannot be decoded or lie in a wrong place. */
  readonly lostKeys: readonly string[];
  /**
   * Records that stay although an unreadable page above them may have held a newer value or their
   * deletion. They get new versions.
   */
  readonly olderKeys: readonly string[];
}

/** Options of a repair. `timeoutMs` bounds all of it; its default is one day. */
export interface RepairOptions extends CallOptions {
  /**
   * Must keep what is taken away. Nothing is changed before its promise resolves; if it rejects,
   * the repair ends. It may be called again for a container that others changed meanwhile.
   */
  readonly save: (taken: Taken) => Promise<void>;
  /** Calls `save` with what would be taken away first, and writes nothing. Default: false. */
  readonly dryRun?: boolean;
}

export interface RepairReport {
  /** Containers that were rewritten, inserted or removed. */
  readonly mended: number;
  /** The last verification. Its findings are those that a repair cannot mend. */
  readonly verified: VerifyReport;
}

// Inserting the new nodes of a split (rules 2, 8 and 9): under fresh ids, each acknowledged or read back before anyone links to it. What
// a failed split leaves behind is garbage that nothing reaches; vacuum removes it.
import pLimit from 'p-limit';
import type { Snapshot } from '../container/snapshot.ts';
import { insertOf } from '../container/writes.ts';
import { StoreError } from '../contract/errors.ts';
import type { Header } from '../format/header.ts';
import { nodeId } from '../format/ids.ts';
import { sendWrites } from '../io/requests.ts';
import type { Engine } from './core.ts';

const INSERTS_IN_FLIGHT = 8;

export interface InsertedNode {
  readonly header: Header;
  /** Undefined where the version is not known. */
  readonly snapshot: Snapshot | undefined;
}

/** All nodes in the order given, or undefined if one of them is not certainly there. */
export async function insertNodes(
  engine: Engine,
  headers: readonly Header[],
  attempt: string,
): Promise<InsertedNode[] | undefined> {
  const limit = pLimit(INSERTS_IN_FLIGHT);
  const inserted = await Promise.all(headers.map((header) => limit(() => insertNode(engine, header, attempt))));
  return inserted.every((node) => node !== undefined) ? inserted : undefined;
}

async function insertNode(engine: Engine, header: Header, attempt: string): Promise<InsertedNode | undefined> {
  const id = nodeId(engine.table, header.incarnation, header.container);
  const seen = engine.clock.now();
  const [outcome] = await sendWrites(engine, [insertOf(id, header, attempt)]);
  if (outcome?.kind === 'written') {
    return { header, snapshot: { id, version: outcome.version, header, lastCommit: attempt, seen } };
  }
  // Nobody else draws this id: what is there is ours, sent twice by something on the way.
  if (outcome?.kind === 'refused') {
    if (outcome.reason === 'condition') return { header, snapshot: undefined };
    // Rule 7: sent again it would be refused again.
    const code = outcome.reason === 'limit' ? 'too_large' : 'invalid';
    throw new StoreError(code, 'the provider refused a container', {
      table: engine.table,
      container: id,
      cause: outcome.cause,
    });
  }
  const lastCommit = await engine.reader.lastCommitOf(id);
  return lastCommit === attempt ? { header, snapshot: undefined } : undefined;
}

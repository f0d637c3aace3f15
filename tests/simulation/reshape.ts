// Finds by a commit's links what it split off, absorbed or copied (rules 8, 9, 27), and any loss.
import { type DecodedRecord, type Node, ROOT } from './decode.ts';
import { type Held, idOf, type Provider, tableOf } from './provider.ts';

export interface Reshape {
  /** The nodes that it links and that were made for this commit, in order. */
  readonly made: readonly Held[];
  /** The former right neighbour, if it is retired and no longer linked. */
  readonly absorbed: Held | undefined;
  /** The copy linked in the place of `absorbed`; undefined if its records were taken in. */
  readonly copy: Held | undefined;
  /** Says how its links are wrong. */
  readonly fault: string | undefined;
}

export const NO_RESHAPE: Reshape = { made: [], absorbed: undefined, copy: undefined, fault: undefined };

export function reshapeOf(provider: Provider, before: Held, now: Held): Reshape {
  const [was, is] = [before.node, now.node];
  const nodeAt = (container: string): Held | undefined =>
    provider.entity(idOf(tableOf(now.id), is.incarnation, container));
  const made: Held[] = [];
  let end = is.container === ROOT ? provider.records(now)[0]?.value.toString('hex') : is.right;
  for (; end !== undefined && end !== was.right; end = made.at(-1)!.node.right) {
    const node = nodeAt(end);
    if (node?.node.origin?.id !== now.id || node.node.origin.version !== before.stored.version) break;
    made.push(node);
  }
  const high = (made.at(-1)?.node ?? is).high;
  const reshape = { ...NO_RESHAPE, made };
  if (end === was.right)
    return sameBound(high, was.high) ? reshape : { ...reshape, fault: 'its bounds and links differ' };
  const next = end === undefined ? undefined : nodeAt(end);
  const isThere = end === undefined || next !== undefined;
  const absorbed = was.right === undefined ? undefined : nodeAt(was.right);
  // A drop may have removed the leaf that the absorbed one linked.
  if (absorbed?.node.state === 'retired' && end === absorbed.node.right) {
    const fault = isThere ? 'joined other bounds' : 'linked a node that is not there';
    return { ...reshape, absorbed, fault: isThere && sameBound(high, absorbed.node.high) ? undefined : fault };
  }
  if (!isThere) return { ...reshape, fault: 'linked a node that is not there' };
  if (absorbed?.node.state !== 'retired') return { ...reshape, fault: 'linked a node made for another base' };
  return {
    ...reshape,
    absorbed,
    copy: next,
    fault: sameBound(high, was.high) ? copyFault(provider, absorbed, next!) : 'moved its high for a copy',
  };
}

/** Rule 27: a copy is the retired leaf again, under another id. */
function copyFault(provider: Provider, retired: Held, copy: Held): string | undefined {
  const [was, is] = [retired.node, copy.node];
  if (is.origin?.id !== retired.id || is.origin.version !== retired.stored.version)
    return 'linked what is no copy of its retired neighbour';
  const isSame =
    is.low.equals(was.low) && sameBound(is.high, was.high) && is.right === was.right && is.state === 'live';
  if (!isSame) return 'linked a copy with other bounds';
  const [records, copied] = [provider.records(retired), provider.records(copy)].map((each) =>
    each.map(contentOf).join(),
  );
  return records === copied && is.nextNumber >= was.nextNumber ? undefined : 'linked a copy with other records';
}

/** Names a record that changed, came back or was lost. Fresh and lost ones take a number each. */
export function contentFault(
  provider: Provider,
  before: readonly Held[],
  after: readonly Held[],
  expiredMs: number,
): string | undefined {
  const first = Math.max(...before.map(({ node }) => node.nextNumber));
  const next = Math.max(...after.map(({ node }) => node.nextNumber));
  const known = new Map(before.flatMap((held) => provider.records(held)).map((record) => [record.name, record]));
  const seen = new Set<string>();
  let fresh = 0;
  for (const record of after.flatMap((held) => provider.records(held))) {
    const key = record.keyText;
    if (seen.has(key)) return `holds ${key} twice`;
    seen.add(key);
    const old = known.get(record.name);
    if (old === undefined && record.version < first) return `holds ${key} in a version that was gone`;
    if (old === undefined) fresh += 1;
    else if (old !== record && contentOf(old) !== contentOf(record)) return `holds ${key} changed under its version`;
  }
  const gone = [...known.values()].filter(
    ({ keyText, expiresAtMs }) => !seen.has(keyText) && !(expiresAtMs !== undefined && expiresAtMs < expiredMs),
  );
  return gone.length + fresh > next - first ? `lost ${gone.map(({ keyText }) => keyText).join()}` : undefined;
}

function contentOf(record: DecodedRecord): string {
  return `${record.name} ${record.expiresAtMs} ${record.value.toString('latin1')}`;
}

export function sameBound(a: Node['high'], b: Node['high']): boolean {
  return a === undefined || b === undefined ? a === b : a.equals(b);
}

export function pagesOf({ rows }: Node): string {
  return rows.map(({ slot, number, crc }) => `${slot}/${number}/${crc}`).join();
}

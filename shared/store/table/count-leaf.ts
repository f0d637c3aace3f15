// Counts the records of a range in its first leaf, by its page table where that tells.
import { countRecords } from '../container/count.ts';
import type { Range } from '../container/layers.ts';
import { orderChanged } from '../contract/errors.ts';
import { lookToCount } from '../engine/lookup.ts';
import type { TableContext } from './context.ts';
import type { Step } from './leaf-ranges.ts';

export async function countFirstLeaf({ engine, order }: TableContext, range: Range): Promise<Step> {
  const { runtime, table, tree, turns } = engine;
  const leaf = await tree.find(range.from, 0, (id) => lookToCount(engine, id, range));
  const { header } = leaf;
  if (header.order !== order) throw orderChanged(table);
  if (turns.isLong) await turns.pause();
  const { stored, expired } = countRecords(leaf, range, runtime.wallMs(), table);
  return { count: stored - expired, reached: header.high, incarnation: header.incarnation };
}

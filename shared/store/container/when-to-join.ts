// When two neighbouring leaves become one (rule 32).
import { encodeHeader, type Header } from '../format/header.ts';
import { headerTogether } from './join-leaves.ts';
import type { CommitRules } from './plan-commit.ts';
import { fits, sizesOf } from './container-size.ts';

/** Leaves below this share together become one. A split leaves more: the two never alternate. */
const MERGE_SHARE = 0.6;

/** Whether both together take at most `share` of every budget: their page tables tell it. */
export function fitsTogether(left: Header, right: Header, rules: CommitRules, share = MERGE_SHARE): boolean {
  const header = headerTogether(left, right);
  return fits(sizesOf(header, encodeHeader(header).length, rules.limits).live, rules.splitLimits, share);
}

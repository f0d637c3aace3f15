// When two neighbouring leaves are merged (rule 32).
import { encodeHeader, type Header } from '../format/header.ts';
import { headerTogether } from './join-leaves.ts';
import type { CommitRules } from './plan-commit.ts';
import { fits, sizesOf } from './container-size.ts';

/** Two leaves are merged below this share. A split leaves more, so the two do not alternate. */
const MERGE_SHARE = 0.6;

/** Whether both together take at most `share` of every budget. No page is needed for it. */
export function fitsTogether(left: Header, right: Header, rules: CommitRules, share = MERGE_SHARE): boolean {
  const header = headerTogether(left, right);
  return fits(sizesOf(header, encodeHeader(header).length, rules.limits).live, rules.splitLimits, share);
}

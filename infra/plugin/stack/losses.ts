// The losses in a plan, and the settings that cause them: read before anything is applied.
import * as z from 'zod';
import type { Loss, Reason } from '../clouds/cloud.ts';

const CHANGE = z.object({
  address: z.string(),
  type: z.string(),
  action_reason: z.string().optional(),
  change: z.object({
    actions: z.array(z.string()),
    before: z.record(z.string(), z.unknown()).nullable(),
    after: z.record(z.string(), z.unknown()).nullable(),
    replace_paths: z.array(z.array(z.unknown())).optional(),
  }),
});

const PLAN = z.object({ resource_changes: z.array(CHANGE).default([]) });

type Change = z.infer<typeof CHANGE>;

/** Resources that a plan deletes or replaces. `json`: from `terraform show -json`. */
export function lossesOf(json: string): Loss[] {
  const { resource_changes: changes } = PLAN.parse(JSON.parse(json));
  return changes.filter(isTakenAway).map(({ address, type, change }) => ({
    address,
    type,
    isReplaced: change.actions.includes('create'),
    values: change.before ?? {},
    reasons: (change.replace_paths ?? []).map((path) => reasonOf(path, change)),
  }));
}

/** Replacing a resource whose creation failed halfway is no loss. */
function isTakenAway({ change: { actions }, action_reason: reason }: Change): boolean {
  return actions.includes('delete') && reason !== 'replace_because_tainted';
}

function reasonOf(path: readonly unknown[], { before, after }: Change['change']): Reason {
  const attribute = String(path[0]);
  return { attribute, before: textOf(before?.[attribute]), after: textOf(after?.[attribute]) };
}

/** `..` for blocks, which are long, and for values that are not known yet. */
function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '..';
}

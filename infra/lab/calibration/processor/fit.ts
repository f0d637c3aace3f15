// Least squares without negative costs, relative: a load of 50 µs counts as much as one of 5,000.

export interface Row<Name extends string> {
  readonly counts: Readonly<Partial<Record<Name, number>>>;
  readonly microseconds: number;
  /** Microseconds that are explained already. Default 0. */
  readonly explained?: number;
}

/** When no row moves by more than this share of what was measured, the costs are found. */
const STEP_MIN = 1e-10;
const SWEEPS_MAX = 20_000;

/** By coordinate descent: the problem is convex and small. A name without a row costs 0. */
export function fitCosts<Name extends string>(
  names: readonly Name[],
  rows: readonly Row<Name>[],
): Record<Name, number> {
  const costs = Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;
  // Each row is divided by what was measured, so that the target is 1 everywhere.
  const shares = rows.map(({ counts, microseconds }) => names.map((name) => (counts[name] ?? 0) / microseconds));
  const missing = rows.map(({ microseconds, explained = 0 }) => 1 - explained / microseconds);
  for (let sweep = 0; sweep < SWEEPS_MAX; sweep += 1) {
    let moved = 0;
    for (const [column, name] of names.entries()) {
      const step = bestStep(shares, missing, column, costs[name]);
      if (step === 0) continue;
      costs[name] += step;
      for (const [row, share] of shares.entries()) {
        const change = step * share[column]!;
        missing[row]! -= change;
        moved = Math.max(moved, Math.abs(change));
      }
    }
    if (moved < STEP_MIN) break;
  }
  return costs;
}

/** How far this cost has to move while the others stand, to stay at 0 or above. */
function bestStep(
  shares: readonly (readonly number[])[],
  missing: readonly number[],
  column: number,
  cost: number,
): number {
  let along = 0;
  let square = 0;
  for (const [row, share] of shares.entries()) {
    along += share[column]! * missing[row]!;
    square += share[column]! ** 2;
  }
  return square === 0 ? 0 : Math.max(-cost, along / square);
}

export function costOf<Name extends string>(
  costs: Readonly<Record<Name, number>>,
  counts: Readonly<Partial<Record<Name, number>>>,
): number {
  const each = Object.entries(counts) as [Name, number][];
  return each.reduce((sum, [name, count]) => sum + costs[name] * count, 0);
}

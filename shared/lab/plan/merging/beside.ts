// A table that is written and scanned while a vacuum merges it.
import { type Dataset, TABLE } from '../../cloud/run/datasets.ts';
import type { Seen } from './callers.ts';
import { type Figures, HOUR_MS, type Stage, VACUUM } from './stage.ts';

/** Half a minute of writers everywhere, a put every four seconds each, and a scan after another, on a table that was hot; beside a vacuum or not. */
async function beside(
  stage: Stage,
  dataset: Dataset,
  hasVacuum: boolean,
): Promise<{ seen: Seen; scans: number; merged: number }> {
  const { world } = stage;
  const writers = await world.openMany(8, dataset.state);
  await stage.write(writers, dataset, { forMs: 8_000, thinkMs: 0 });
  await world.scheduler.after(HOUR_MS);
  const merger = await world.open(dataset.state);
  const reader = await world.open(dataset.state);
  const vacuuming = hasVacuum ? merger.store.vacuum(TABLE, { ...VACUUM, quietMs: 10_000 }) : undefined;
  let scans = 0;
  const untilMs = world.scheduler.nowMs + 60_000;
  const scanning = (async () => {
    for (; world.scheduler.nowMs < untilMs; scans += 1) {
      for await (const _ of reader.table.scan()) if (world.scheduler.nowMs >= untilMs) return;
    }
  })();
  const seen = await stage.write(writers, dataset, { forMs: 60_000, thinkMs: 4_000 });
  await scanning;
  const report = await vacuuming;
  return { seen, scans, merged: report?.merged ?? 0 };
}

export async function besideVacuum(newStage: () => Stage): Promise<Figures> {
  const play = async (hasVacuum: boolean) => {
    const stage = newStage();
    const dataset = await stage.dataset();
    return stage.world.run(() => beside(stage, dataset, hasVacuum));
  };
  const [without, during] = [await play(false), await play(true)];
  return [
    { figure: 'leaves merged meanwhile', value: during.merged },
    {
      figure: 'puts : without',
      value: during.seen.latenciesMs.length / without.seen.latenciesMs.length,
      goal: { atLeast: 0.9 },
    },
    { figure: 'scans : without', value: during.scans / without.scans, goal: { atLeast: 0.9 } },
    { figure: 'p99 of puts : without', value: p99(during.seen) / p99(without.seen), goal: { atMost: 2 } },
    { figure: 'slowest put, s', value: (during.seen.latenciesMs.at(-1) ?? 0) / 1_000, goal: { atMost: 1 } },
    { figure: 'puts failed', value: during.seen.failed, goal: { atMost: 0 } },
  ];
}

function p99({ latenciesMs }: Seen): number {
  return latenciesMs[Math.floor(latenciesMs.length * 0.99)] ?? 0;
}

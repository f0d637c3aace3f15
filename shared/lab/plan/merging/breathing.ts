// A table that breathes.
import { type Dataset, TABLE } from '../../cloud/run/datasets.ts';
import { censusOf } from '../../cloud/tables/census.ts';
import { type Figures, HOUR_MS, type Stage, VACUUM } from './stage.ts';

/** Hot for two seconds of every hour: the first cycles of a day against those after it, when what was merged a day ago is removed. */
export async function breathing(stage: Stage, dataset: Dataset, cycles: number): Promise<Figures> {
  const { world } = stage;
  const reader = await world.open(dataset.state);
  const seen: { leaves: number; merged: number; entries: number; requestsAGet: number }[] = [];
  for (let cycle = 0; cycle < cycles; cycle += 1) {
    const writers = await world.openMany(8, dataset.state);
    await stage.write(writers, dataset, { forMs: 2_000, thinkMs: 0 });
    const merger = await world.open(dataset.state);
    await world.scheduler.after(HOUR_MS / 2);
    await merger.store.vacuum(TABLE, VACUUM);
    await world.scheduler.after(HOUR_MS / 2);
    const requests = await world.requestsOf(async () => {
      for (let index = 0; index < 200; index += 1) await reader.table.get(dataset.keyOf(index * 47));
    });
    seen.push({ ...censusOf(dataset.state), requestsAGet: requests / 200 });
    for (const { store } of [...writers, merger]) await store.close();
  }
  const most = (name: keyof (typeof seen)[number], from: number, to: number): number =>
    Math.max(...seen.slice(from, to).map((each) => each[name]));
  const half = Math.ceil(cycles / 2);
  const growth = (name: keyof (typeof seen)[number]): number => most(name, half, cycles) / most(name, 0, half);
  return [
    { figure: 'cycles', value: cycles },
    { figure: 'leaves, at most', value: most('leaves', 0, cycles) },
    { figure: 'headers of merged leaves, at most', value: most('merged', 0, cycles) },
    { figure: 'leaves : first half', value: growth('leaves'), goal: { atMost: 1.3 } },
    { figure: 'headers of merged leaves : first half', value: growth('merged'), goal: { atMost: 1.3 } },
    { figure: 'routing entries : first half', value: growth('entries'), goal: { atMost: 1.3 } },
    { figure: 'requests a get : first half', value: growth('requestsAGet'), goal: { atMost: 1.1 } },
  ];
}

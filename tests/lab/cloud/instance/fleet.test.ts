import { describe, expect, test } from 'vitest';
import { Fleet } from '../../../../shared/lab/cloud/instance/fleet.ts';
import type { Instance } from '../../../../shared/lab/cloud/instance/instance.ts';
import { Scheduler } from '../../../../shared/lab/kit/scheduler.ts';

/** Two operations an instance, a second to start, three instances at most. */
function following() {
  const scheduler = new Scheduler(1);
  const fleet = new Fleet(scheduler, { kind: 'following', concurrency: 2, startMs: 1_000, instancesMax: 3 });
  const served: string[] = [];
  const instances: Instance[] = [];
  const take = async (name: string): Promise<void> => {
    const instance = await fleet.take(0);
    instances.push(instance);
    served.push(`${name} on ${instance.number} at ${scheduler.nowMs}`);
  };
  return { scheduler, fleet, served, instances, take };
}

describe('a fleet that follows the load', () => {
  test('starts as many instances as the waiting operations need, and serves nobody before they have started', async () => {
    const { scheduler, fleet, served, take } = following();
    for (const name of ['a', 'b', 'c', 'd', 'e']) void take(name);
    expect(fleet.instances).toHaveLength(3);
    await scheduler.pass(999);
    expect(served).toEqual([]);
    await scheduler.pass(1);
    expect(served).toEqual(['a on 0 at 1000', 'b on 1 at 1000', 'c on 2 at 1000', 'd on 0 at 1000', 'e on 1 at 1000']);
  });

  test('starts one at a time as the load grows', async () => {
    const { scheduler, fleet, served, take } = following();
    void take('a');
    await scheduler.pass(1_500);
    void take('b');
    await scheduler.pass(0);
    expect(fleet.instances).toHaveLength(1);
    void take('c');
    await scheduler.pass(2_000);
    expect(fleet.instances).toHaveLength(2);
    expect(served).toEqual(['a on 0 at 1000', 'b on 0 at 1500', 'c on 1 at 2500']);
  });

  test('grows to its maximum and no further: then operations wait for one to end', async () => {
    const { scheduler, fleet, served, instances, take } = following();
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) void take(name);
    await scheduler.pass(2_000);
    expect(fleet.instances).toHaveLength(3);
    expect(served).toHaveLength(6);
    fleet.release(instances[1]!);
    await scheduler.pass(0);
    expect(served.at(-1)).toBe('g on 1 at 2000');
  });
});

test('of a fixed fleet each caller has its instance, from the first moment', async () => {
  const fleet = new Fleet(new Scheduler(1), { kind: 'fixed', instances: 2 });
  const taken = await Promise.all([0, 1, 2, 3].map(async (caller) => await fleet.take(caller)));
  expect(taken.map(({ number }) => number)).toEqual([0, 1, 0, 1]);
  expect(fleet.instances.map(({ taken }) => taken)).toEqual([2, 2]);
});

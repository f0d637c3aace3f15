// The share of time in which the thread works, as the event loop counts it.
import type { EventLoopUtilization } from 'node:perf_hooks';
import { expect, test } from 'vitest';
import { BusyShare } from '../../../shared/store/system/system-runtime.ts';

class Loop {
  readonly counted = { idle: 0, active: 0 };

  readonly count = (since: { idle: number; active: number } = { idle: 0, active: 0 }): EventLoopUtilization => {
    const idle = this.counted.idle - since.idle;
    const active = this.counted.active - since.active;
    return { idle, active, utilization: idle + active === 0 ? 0 : active / (idle + active) };
  };

  pass(activeMs: number, idleMs: number): void {
    this.counted.active += activeMs;
    this.counted.idle += idleMs;
  }
}

test('a share is taken over a tenth of a second', () => {
  const loop = new Loop();
  const busy = new BusyShare(loop.count);
  loop.pass(30, 70);
  expect(busy.now()).toBe(0.3);
  loop.pass(50, 0);
  expect(busy.now()).toBe(0.3);
  loop.pass(0, 50);
  expect(busy.now()).toBe(0.5);
});

test('until a share was taken the thread counts as busy, also after it stood idle for long', () => {
  const loop = new Loop();
  const busy = new BusyShare(loop.count);
  expect(busy.now()).toBe(1);
  loop.pass(10, 60_000);
  expect(busy.now()).toBe(1);
});

test('after a pause the share is still that of the work before it', () => {
  const loop = new Loop();
  const busy = new BusyShare(loop.count);
  loop.pass(90, 10);
  expect(busy.now()).toBe(0.9);
  loop.pass(5, 700);
  expect(busy.now()).toBe(0.9);
  loop.pass(40, 60);
  expect(busy.now()).toBe(0.4);
});

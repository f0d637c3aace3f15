// Progress of a plan: a bar on a terminal, a line now and then elsewhere.
import { Presets, SingleBar } from 'cli-progress';
import type { Progress } from '../../shared/compare/plan/coordinator.ts';

export interface ProgressView {
  readonly show: (progress: Progress) => void;
  /** Must be called however the plan ends. */
  readonly end: () => void;
}

const LINES_PER_PLAN = 10;

export function showProgress(stream: NodeJS.WriteStream = process.stderr): ProgressView {
  return stream.isTTY ? bar(stream) : lines();
}

function bar(stream: NodeJS.WriteStream): ProgressView {
  const single = new SingleBar(
    {
      format: '{bar} {value}/{total} cells | {eta_formatted} left | {cell}',
      hideCursor: true,
      barsize: 30,
      etaBuffer: 20,
      stream,
    },
    Presets.shades_classic,
  );
  let started = false;
  return {
    show: ({ done, total, cell }) => {
      if (!started) single.start(total, 0, { cell: '' });
      started = true;
      // Loads that are repeated may exceed the plan's count.
      single.setTotal(total);
      single.update(done, { cell: nameOf(cell) });
    },
    end: () => single.stop(),
  };
}

function lines(): ProgressView {
  let shown = -1;
  return {
    show: ({ done, total, cell }) => {
      const step = Math.floor((done / total) * LINES_PER_PLAN);
      if (step === shown) return;
      shown = step;
      console.log(`cell ${done + 1} of ${total}: ${nameOf(cell)}`);
    },
    end: () => {},
  };
}

function nameOf({ provider, request }: Progress['cell']): string {
  return `${provider} ${request.layout} ${request.workload}, ${request.concurrency} callers`;
}

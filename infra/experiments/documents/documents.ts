// The experiments, in the order of the report.
import type { Experiment } from '../experiment.ts';
import { experimentB } from './b/b.ts';
import { experimentC } from './c/c.ts';
import { experimentE } from './e/e.ts';
import { experimentSize } from './size/size.ts';

export const EXPERIMENTS: readonly Experiment[] = [experimentB(), experimentC(), experimentE(), experimentSize()];

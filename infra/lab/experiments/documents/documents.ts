// The experiments, in the order of the report.
import type { Experiment } from '../experiment.ts';
import { EXPERIMENT_A } from './a.ts';
import { experimentB } from './b.ts';
import { experimentC } from './c.ts';
import { EXPERIMENT_D } from './d.ts';
import { experimentE } from './e.ts';

export const EXPERIMENTS: readonly Experiment[] = [
  EXPERIMENT_A,
  experimentB(),
  experimentC(),
  EXPERIMENT_D,
  experimentE(),
];

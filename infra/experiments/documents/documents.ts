// The experiments, in the order of the report.
import type { Experiment } from '../experiment.ts';
import { experimentB } from './b/b.ts';

export const EXPERIMENTS: readonly Experiment[] = [experimentB()];

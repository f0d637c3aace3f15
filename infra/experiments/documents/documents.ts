// The experiments, in the order of the report.
import type { Experiment } from '../experiment.ts';

export const EXPERIMENTS: readonly Experiment[] = [];

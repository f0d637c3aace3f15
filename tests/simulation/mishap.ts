// Mishaps of a process. Faults of its requests stand in scenario.ts.

/** The step of a merge that a write does. */
export type MergeStep = 'retire' | 'copy' | 'absorb' | 'strip';

/** It befalls the process at its `atCall`-th request. */
export type Mishap = {
  readonly process: number;
  readonly atCall: number;
  /** Only requests that do this step are counted. */
  readonly step?: MergeStep;
} & (
  | { readonly kind: 'crash'; readonly isSent: boolean; readonly downMs: number }
  | { readonly kind: 'sleep'; readonly ms: number; readonly monotonicStops: boolean }
  | { readonly kind: 'clock'; readonly jumpMs: number }
);

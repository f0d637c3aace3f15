// What happens to a process beside what goes wrong with its requests.

/** What a write does for a merge. */
export type MergeStep = 'retire' | 'copy' | 'absorb' | 'strip';

/** Something that happens to a process as it makes its `atCall`-th request. */
export type Mishap = {
  readonly process: number;
  readonly atCall: number;
  /** Only requests that do this are counted. */
  readonly step?: MergeStep;
} & (
  | { readonly kind: 'crash'; readonly isSent: boolean; readonly downMs: number }
  | { readonly kind: 'sleep'; readonly ms: number; readonly monotonicStops: boolean }
  | { readonly kind: 'clock'; readonly jumpMs: number }
  /** This one request is so much longer on its way. */
  | { readonly kind: 'delay'; readonly ms: number }
);

// Goals as findings: a figure holds, or does not, against the bounds that it is to keep.
import { decimal, said } from '../../kit/format.ts';
import type { Finding } from './schema.ts';

interface Bounds {
  readonly atLeast?: number | undefined;
  readonly atMost?: number | undefined;
}

/** `value`: null where it was not measured, or too few operations bear it. */
export function goalFinding(figure: string, value: number | null, { atLeast, atMost }: Bounds): Finding {
  const wanted = said(atLeast !== undefined && `at least ${atLeast}`, atMost !== undefined && `at most ${atMost}`).join(
    ', ',
  );
  const isKept = value !== null && value >= (atLeast ?? -Infinity) && value <= (atMost ?? Infinity);
  const is = value === null ? 'not known' : Number.isInteger(value) ? String(value) : decimal(value);
  return {
    verdict: value === null ? 'open' : isKept ? 'holds' : 'does not hold',
    text: `${figure}: ${is}${wanted === '' ? '' : `; goal: ${wanted}`}.`,
  };
}

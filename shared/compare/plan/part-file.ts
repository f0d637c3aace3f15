// The file that a part of a plan leaves: raw histograms and counters, checked before they are merged.
import { z } from 'zod';
import { cellResultSchema } from '../cell/cell.ts';
import { coordinatesSchema, INSTANCES_MAX } from '../cell/coordinates.ts';
import { PROVIDERS } from '../dimensions.ts';
import { failureSchema, leftoverSchema } from './outcome.ts';
import { planSchema } from './plan.ts';

const partRunSchema = z.strictObject({ cell: coordinatesSchema, repetition: z.int().min(1), result: cellResultSchema });

/** What the file of a part holds. */
export const planPartSchema = z
  .strictObject({
    kind: z.literal('stowage-part'),
    /** Raised when a field changes. */
    schemaVersion: z.literal(1),
    provider: z.enum(PROVIDERS),
    /** Which of how many; `index` counts from 0. */
    part: z.strictObject({ index: z.int().min(0), count: z.int().min(1).max(INSTANCES_MAX) }),
    /** When the first warm-up began; all parts of a comparison have the same. */
    startAt: z.iso.datetime(),
    endedAt: z.iso.datetime(),
    /** Its `instances` are the parts. */
    plan: planSchema,
    runs: z.array(partRunSchema),
    failures: z.array(failureSchema),
    leftovers: z.array(leftoverSchema),
    endedEarly: z.string().nullable(),
  })
  .refine(
    ({ part, plan }) => part.index < part.count && plan.instances.length === 1 && plan.instances[0] === part.count,
    {
      error: 'the part is none of its plan',
    },
  );

export type PlanPart = z.output<typeof planPartSchema>;

/** The part in a file's text. Throws a TypeError that says, in one line, why it is none. */
export function planPartOf(text: string): PlanPart {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new TypeError(`no JSON: ${(error as Error).message}`, { cause: error });
  }
  const parsed = planPartSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new TypeError(`no part of a comparison: ${issue!.path.join('.') || 'it'}: ${issue!.message}`);
}

/** How such files are named. */
export function partFileName({ provider, part, startAt }: Pick<PlanPart, 'provider' | 'part' | 'startAt'>): string {
  return `part-${startAt.replaceAll(/[:.]/g, '-')}-${provider}-${part.index + 1}-of-${part.count}.json`;
}

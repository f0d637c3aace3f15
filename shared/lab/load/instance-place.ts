// The place of a cell, as the function itself tells it.
import * as z from 'zod';
import { PROVIDERS } from '../kit/dimensions.ts';

export const placeSchema = z.strictObject({
  provider: z.enum(PROVIDERS),
  /** `local`: a process beside an emulator. */
  platform: z.enum(['google-cloud-run', 'azure-functions', 'local']),
  /** The answering service: `Google Cloud Datastore`, or an emulator's name. */
  backend: z.string().min(1),
  /** If so, no figure says anything about a cloud's speed. */
  isEmulator: z.boolean(),
  /** As the cloud spells it; null where the platform does not tell. */
  region: z.string().nullable(),
  /** The platform's id of the instance; of a local process one of its own, drawn as it starts. */
  instanceId: z.string().min(1),
  memoryBytes: z.number().positive().nullable(),
  /** Processors that the instance may use; parts of one are possible. */
  processors: z.number().positive().nullable(),
  processorModel: z.string(),
  /** `Linux 6.1.0 x64`. */
  system: z.string(),
  /** `Node.js 24.21.0`. */
  runtime: z.string(),
  /** Package -> version, of the store and of the SDK that its layouts and the others use. */
  versions: z.record(z.string(), z.string()),
  /** The function's; null where it was built outside of a repository. */
  commit: z.string().nullable(),
});

export type Place = z.infer<typeof placeSchema>;

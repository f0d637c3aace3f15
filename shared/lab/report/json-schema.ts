// The report's schema for readers in other languages: JSON Schema, draft 2020-12, made of the one that checks it.
import * as z from 'zod';
import { REPORT_SCHEMA_VERSION, reportSchema } from './schema.ts';

/** The whole document, as JSON data. */
export function reportJsonSchema(): object {
  return {
    ...z.toJSONSchema(reportSchema, { reused: 'ref', io: 'output' }),
    title: 'Report of a comparison of Stowage',
    description: `compare.json, schema version ${REPORT_SCHEMA_VERSION}. Times in milliseconds and sizes in bytes unless a name says otherwise; null means not known.`,
  };
}

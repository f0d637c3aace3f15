// Reads and changes one record in one step: PATCH merges a JSON merge patch, POST adds to a number
// or gives another expiry.
import * as z from 'zod/mini';
import type { EncodedValue, Entry } from '../../shared/store/index.ts';
import { conditionsOf, entityTag, passes } from '../http/if-match.ts';
import { checkType, converted, parseJson } from '../http/content.ts';
import { ttlOf } from '../http/headers.ts';
import { MERGE_PATCH, type MergePatch, mergePatch } from '../http/merge-patch.ts';
import { Problem } from '../http/problem.ts';
import { type Call, reply } from '../http/route.ts';
import { numberLike, parsed } from '../http/validate.ts';
import { headersOf, preconditionFailed, recordNotFound } from './record-handlers.ts';
import type { Tables } from './table-handlers.ts';

/** Answers 204 with the new version, or 404 without a record. Takes one write. */
export async function patchRecord(tables: Tables, call: Call): Promise<Response> {
  checkType(call.request, MERGE_PATCH);
  const merge = mergePatch(await call.body());
  const entry = await changed(tables, call, (value) => merged(value ?? missing(), merge));
  return new Response(null, { status: 204, headers: headersOf(entry, entityTag(entry.version)) });
}

export const CHANGE_QUERY = z.strictObject({
  increment: z.exactOptional(z.pipe(numberLike(/^-?\d{1,16}$/), z.int())),
  field: z.exactOptional(z.string()),
});

/** An increment creates a missing record and answers the sum; an expiry alone answers 204. */
export async function changeRecord(tables: Tables, call: Call): Promise<Response> {
  const { key: _, ...query } = call.query;
  const { increment, field } = parsed(CHANGE_QUERY, query);
  if (increment === undefined && field !== undefined) throw new Problem('invalid', 'field needs an increment');
  if (increment === undefined && !call.request.headers.has('Stowage-Ttl-Ms'))
    throw new Problem('invalid', 'give ?increment=, or Stowage-Ttl-Ms for another expiry, or both');
  const entry = await changed(tables, call, (value) =>
    increment === undefined ? (value ?? missing()) : incremented(value, increment, field),
  );
  const headers = headersOf(entry, entityTag(entry.version));
  if (increment === undefined) return new Response(null, { status: 204, headers });
  return reply('application/json', JSON.stringify({ value: numberIn(jsonOf(entry.value), field) }), headers);
}

/** The changed record. Throws unless the request's conditions hold. */
async function changed(
  tables: Tables,
  { request, bounds, param }: Call,
  change: (value: EncodedValue | undefined) => EncodedValue,
): Promise<Entry<EncodedValue>> {
  const conditions = conditionsOf(request);
  const options = { ...bounds, ...ttlOf(request) };
  const entry = await tables.use(param('table'), bounds, (table) =>
    table.update(
      param('key'),
      (current) => {
        if (!passes(conditions, current?.version)) throw preconditionFailed();
        return change(current?.value);
      },
      options,
    ),
  );
  return entry!;
}

function missing(): never {
  throw recordNotFound();
}

function incremented(value: EncodedValue | undefined, by: number, field: string | undefined): EncodedValue {
  const put = (sum: number) => Buffer.from(JSON.stringify(field === undefined ? sum : { [field]: sum }));
  if (value === undefined) return { codec: 'json', bytes: put(by) };
  return merged(value, (json) => {
    const sum = numberIn(json, field) + by;
    if (!Number.isSafeInteger(sum)) throw new Problem('conflict', 'the sum is beyond 2^53');
    return mergePatch(put(sum))(json);
  });
}

/** The whole number in the field, or the value itself without one. A missing field counts as 0. */
function numberIn(json: Uint8Array, field: string | undefined): number {
  const value = parseJson(json);
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (field !== undefined && !isObject) throw new Problem('conflict', 'the value has no fields');
  const found: unknown = field === undefined ? value : Object.hasOwn(value!, field) ? Reflect.get(value!, field) : 0;
  if (Number.isSafeInteger(found)) return found as number;
  throw new Problem('conflict', `${field === undefined ? 'the value' : 'the field'} is no whole number below 2^53`);
}

/** A record keeps the form in which it was put. */
function merged(value: EncodedValue, merge: MergePatch): EncodedValue {
  try {
    const json = merge(jsonOf(value));
    return value.codec === 'json'
      ? { codec: 'json', bytes: json }
      : { codec: 'msgpack', bytes: converted({ codec: 'json', bytes: json }) };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw new Problem('conflict', `this record cannot be changed in place: ${error.message}; put it whole`);
  }
}

function jsonOf(value: EncodedValue): Uint8Array {
  if (value.codec === 'bytes') throw new Problem('conflict', 'the record holds bytes');
  return value.codec === 'json' ? value.bytes : converted(value);
}

// PATCH of one record by a JSON merge patch, in one step with the reading.
import type { EncodedValue } from '../../shared/store/index.ts';
import { conditionsOf, entityTag, passes } from '../http/conditions.ts';
import { checkType, converted } from '../http/content.ts';
import { ttlOf } from '../http/headers.ts';
import { MERGE_PATCH, type MergePatch, mergePatch } from '../http/merge-patch.ts';
import { Problem } from '../http/problem.ts';
import type { Call } from '../http/route.ts';
import type { Tables } from './tables.ts';
import { headersOf, preconditionFailed, recordNotFound } from './record.ts';

/** 204 with the new version. One write; a record that is not there is no record to patch. */
export async function patchRecord(tables: Tables, call: Call): Promise<Response> {
  const { request, bounds } = call;
  const conditions = conditionsOf(request);
  const options = { ...bounds, ...ttlOf(request) };
  checkType(request, MERGE_PATCH);
  const merge = mergePatch(await call.body());
  const entry = await tables.use(call.param('table'), bounds, (table) =>
    table.update(
      call.param('key'),
      (current) => {
        if (!passes(conditions, current?.version)) throw preconditionFailed();
        if (current === undefined) throw recordNotFound();
        return merged(current.value, merge);
      },
      options,
    ),
  );
  return new Response(null, { status: 204, headers: headersOf(entry!, entityTag(entry!.version)) });
}

/** A record keeps the form in which it was put. */
function merged(value: EncodedValue, merge: MergePatch): EncodedValue {
  if (value.codec === 'bytes') throw notPatchable('the record holds bytes');
  try {
    if (value.codec === 'json') return { codec: 'json', bytes: merge(value.bytes) };
    const json = merge(converted(value));
    return { codec: 'msgpack', bytes: converted({ codec: 'json', bytes: json }) };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw notPatchable(error.message);
  }
}

function notPatchable(why: string): Problem {
  return new Problem('conflict', `no merge patch can be applied to this record: ${why}; put it whole`);
}

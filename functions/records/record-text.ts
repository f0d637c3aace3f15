// A record as JSON text, in pages, streams and batches alike.
import type { EncodedValue, Entry } from '../../shared/store/index.ts';
import { jsonText, MEDIA_TYPE_OF } from '../http/content.ts';
import { isoTime } from './tables.ts';

/** Instead of `value`, `data` has the bytes in base64 if JSON cannot carry them. */
export function recordText({ key, version, expiresAtMs, value }: Entry<EncodedValue>): string {
  const head = JSON.stringify({
    key,
    version,
    ...(expiresAtMs === undefined ? {} : { expiresAt: isoTime(expiresAtMs) }),
    contentType: MEDIA_TYPE_OF[value.codec],
  });
  const text = jsonText(value);
  const tail = text === undefined ? `"data":${JSON.stringify(base64(value.bytes))}` : `"value":${text}`;
  return `${head.slice(0, -1)},${tail}}`;
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

// A record as JSON text, in pages, streams and batches alike.
import type { EncodedValue, Entry } from '../../shared/store/index.ts';
import { jsonText, MEDIA_TYPE_OF } from '../http/content.ts';
import { isoTime } from './table-handlers.ts';

/** If JSON cannot express the value, `data` has its bytes in base64 instead. */
export function recordText(entry: Entry<EncodedValue>): string {
  const { value } = entry;
  const text = jsonText(value);
  const tail = text === undefined ? `"data":"${Buffer.from(value.bytes).toString('base64')}"` : `"value":${text}`;
  return `${JSON.stringify(recordHead(entry)).slice(0, -1)},${tail}}`;
}

/** All but the value. */
export function recordHead({ key, version, expiresAtMs, value }: Entry<EncodedValue>): object {
  const expiry = expiresAtMs === undefined ? {} : { expiresAt: isoTime(expiresAtMs) };
  return { key, version, ...expiry, contentType: MEDIA_TYPE_OF[value.codec] };
}

// Values and media types: what a value may arrive as, what it can be given back as, and how one becomes the other. Bytes are stored
// as they came, once they are known to parse; so the stored media type gives back the very same bytes.
import type { EncodedValue } from '../shared/store/index.ts';
import { assertMsgpack, decodeMsgpack, encodeMsgpack } from './msgpack.ts';
import { Problem } from './problem.ts';

export type Codec = EncodedValue['codec'];

export const MEDIA_TYPE_OF: Readonly<Record<Codec, string>> = {
  json: 'application/json',
  msgpack: 'application/msgpack',
  bytes: 'application/octet-stream',
};

export const MEDIA_TYPES: readonly string[] = Object.values(MEDIA_TYPE_OF);

/** The codec a Content-Type names, if it is one of `allowed`; otherwise the Problem `unsupported_media_type`. */
export function codecOf(contentType: string | null, allowed: readonly Codec[]): Codec {
  const [type = '', ...parameters] = (contentType ?? '').split(';').map((part) => part.trim().toLowerCase());
  const codec = allowed.find((candidate) => MEDIA_TYPE_OF[candidate] === type);
  const foreign = parameters.find((parameter) => parameter !== '' && !/^charset="?utf-8"?$/.test(parameter));
  if (codec !== undefined && foreign === undefined) return codec;
  const list = allowed.map((candidate) => MEDIA_TYPE_OF[candidate]).join(', ');
  const found = contentType === null ? 'there is no Content-Type' : `Content-Type ${JSON.stringify(contentType)}`;
  throw new Problem('unsupported_media_type', `${found}; send one of ${list} (text in UTF-8)`, {
    headers: { Accept: list },
  });
}

/** Takes a value in as it came, or throws the Problem `malformed`. */
export function encodedValue(codec: Codec, bytes: Uint8Array): EncodedValue {
  if (codec === 'json') parseJson(bytes);
  if (codec === 'msgpack') assertMsgpack(bytes);
  return { codec, bytes };
}

/** JSON as RFC 8259 has it: UTF-8, no byte order mark. The Problem `malformed` never quotes the text, which may be secret. */
export function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(textOf(bytes)) as unknown;
  } catch (error) {
    const at = /position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1];
    throw new Problem('malformed', `not JSON${at === undefined ? '' : ` at character ${at}`}: send one value in UTF-8`);
  }
}

/** The media type to answer in: the accepted one of highest weight, at equal weights the earliest offer; undefined if none is accepted. */
export function negotiate(accept: string | null, offers: readonly string[]): string | undefined {
  if (accept === null || accept.trim() === '') return offers[0];
  const ranges = accept.split(',').map(mediaRange);
  let best: { offer: string; weight: number } | undefined;
  for (const offer of offers) {
    const weight = weightOf(offer, ranges);
    if (weight > (best?.weight ?? 0)) best = { offer, weight };
  }
  return best?.offer;
}

/** `negotiate`, with the Problem `not_acceptable` where nothing fits. */
export function negotiated(request: Request, offers: readonly string[]): string {
  const chosen = negotiate(request.headers.get('Accept'), offers);
  if (chosen === undefined) throw new Problem('not_acceptable', `it can be given as ${offers.join(' or ')}`);
  return chosen;
}

/**
 * A stored value for this request: as stored if that is accepted as gladly as anything else, or turned from JSON to MessagePack or
 * back. Bytes have no other form. Binary inside MessagePack becomes base64 text in JSON, timestamps become ISO text; numbers beyond
 * JSON (NaN, infinities) and maps with keys that are no strings cannot be turned: `not_acceptable`.
 */
export function present(value: EncodedValue, request: Request): { contentType: string; bytes: Uint8Array } {
  const others: readonly Codec[] = value.codec === 'json' ? ['msgpack'] : value.codec === 'msgpack' ? ['json'] : [];
  const contentType = negotiated(
    request,
    [value.codec, ...others].map((codec) => MEDIA_TYPE_OF[codec]),
  );
  if (contentType === MEDIA_TYPE_OF[value.codec]) return { contentType, bytes: value.bytes };
  if (value.codec === 'json') return { contentType, bytes: encodeMsgpack(parseJson(value.bytes)) };
  const text = jsonText(value);
  if (text === undefined) {
    throw new Problem('not_acceptable', 'JSON cannot carry this value; accept application/msgpack');
  }
  return { contentType, bytes: Buffer.from(text) };
}

/** A stored value as JSON text on one line, or undefined where JSON cannot carry it. */
export function jsonText(value: EncodedValue): string | undefined {
  // Outside its strings JSON's line breaks are mere white space, and inside them there are none.
  if (value.codec === 'json') return textOf(value.bytes).replaceAll(/[\r\n]+/g, ' ');
  if (value.codec === 'bytes') return undefined;
  try {
    return JSON.stringify(jsonable(decodeMsgpack(value.bytes)));
  } catch (error) {
    if (error instanceof NotJson || error instanceof Problem) return undefined;
    throw error;
  }
}

class NotJson extends Error {}

function jsonable(value: unknown): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return value;
    throw new NotJson();
  }
  if (typeof value === 'bigint') return exactNumber(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (value instanceof Date) return jsonDate(value);
  if (Array.isArray(value)) return value.map(jsonable);
  if (!(value instanceof Map)) throw new NotJson();
  const object = Object.create(null) as Record<string, unknown>;
  for (const [key, item] of value as Map<unknown, unknown>) {
    if (typeof key !== 'string') throw new NotJson();
    object[key] = jsonable(item);
  }
  return object;
}

function jsonDate(value: Date): string {
  if (Number.isNaN(value.getTime())) throw new NotJson();
  return value.toISOString();
}

/** All digits of an integer that a double cannot hold; JSON sets no bound. (Not yet in TypeScript's library.) */
function exactNumber(value: bigint): unknown {
  return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(value.toString());
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function textOf(bytes: Uint8Array): string {
  return UTF8.decode(bytes);
}

interface MediaRange {
  readonly type: string;
  readonly weight: number;
}

function mediaRange(text: string): MediaRange {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const q = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
  const weight = q === undefined ? 1 : /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(q) ? Number(q) : 0;
  return { type, weight };
}

/** The weight of the most specific range that covers the offer. */
function weightOf(offer: string, ranges: readonly MediaRange[]): number {
  const wildcards = [offer, `${offer.split('/')[0]}/*`, '*/*'];
  for (const type of wildcards) {
    const range = ranges.find((candidate) => candidate.type === type);
    if (range !== undefined) return range.weight;
  }
  return 0;
}

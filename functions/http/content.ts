// The media types in which values are sent and accepted. Values are stored as they were sent, after
// they were parsed.
import type { EncodedValue, Entry } from '../../shared/store/index.ts';
import { withoutMark } from './json-text.ts';
import { jsonFromMsgpack, msgpackFromJson } from './json-msgpack.ts';
import { JsonReader } from './json-reader.ts';
import { MsgpackReader } from './msgpack-content.ts';
import { Problem } from './problem.ts';
import type { ValueReader } from './body-reader.ts';

/** The encoding of stored bytes. */
export type Codec = EncodedValue['codec'];

/** The store's own limit of a record: a larger body is not read to its end. */
export const VALUE_BYTES_MAX = 512 * 1024;

/** Codecs whose bytes hold values within values. */
export type StructuredCodec = Exclude<Codec, 'bytes'>;

/** The media type of each codec's bytes, as IANA registered it. */
export const MEDIA_TYPE_OF: Readonly<Record<Codec, string>> = {
  json: 'application/json',
  msgpack: 'application/vnd.msgpack',
  bytes: 'application/octet-stream',
};

/** Names of MessagePack from before its registration: accepted, but never sent. */
const OLD_NAMES = /^application\/(?:x-)?msgpack$/;

/** The registered name of a media type. */
export function registered(type: string): string {
  return type.replace(OLD_NAMES, MEDIA_TYPE_OF.msgpack);
}

/** The registered name of a type; undefined if its parameters say anything but UTF-8. */
function typeInUtf8(contentType: string): string | undefined {
  const [name = '', ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase());
  return parameters.every((parameter) => /^(?:charset="?utf-8"?)?$/.test(parameter)) ? registered(name) : undefined;
}

/** Throws the Problem `unsupported_media_type` for a codec outside `allowed`. */
export function codecOf<Allowed extends Codec>(contentType: string | null, allowed: readonly Allowed[]): Allowed {
  const type = typeInUtf8(contentType ?? '');
  const codec = allowed.find((candidate) => MEDIA_TYPE_OF[candidate] === type);
  if (codec !== undefined) return codec;
  const list = allowed.map((candidate) => MEDIA_TYPE_OF[candidate]).join(', ');
  const found = contentType === null ? 'there is no Content-Type' : `Content-Type ${JSON.stringify(contentType)}`;
  throw new Problem('unsupported_media_type', `${found}; send one of ${list} (text in UTF-8)`, {
    headers: { Accept: list },
  });
}

/** Throws the Problem `unsupported_media_type` for any type but this one in UTF-8. */
export function checkType({ method, headers }: Request, type: string): void {
  if (typeInUtf8(headers.get('Content-Type') ?? '') === type) return;
  const accepts = method === 'PATCH' ? 'Accept-Patch' : 'Accept-Post';
  throw new Problem('unsupported_media_type', `a ${method} here takes ${type} in UTF-8`, {
    headers: { [accepts]: type },
  });
}

export function readerOf(codec: StructuredCodec, bytes: Uint8Array): ValueReader {
  return codec === 'json' ? new JsonReader(withoutMark(bytes)) : new MsgpackReader(bytes);
}

/** Keeps the bytes, without a mark before JSON. Throws `malformed` unless they are one value. */
export function encodedValue(codec: Codec, bytes: Uint8Array): EncodedValue {
  if (codec !== 'bytes') {
    const reader = readerOf(codec, bytes);
    reader.value();
    reader.end();
  }
  return { codec, bytes: codec === 'json' ? withoutMark(bytes) : bytes };
}

/** Parses RFC 8259 after a check, of at most 100 levels. Throws the Problem `malformed`. */
export function parseJson(bytes: Uint8Array): unknown {
  return JSON.parse(UTF8.decode(encodedValue('json', bytes).bytes));
}

/** The best offers first: by weight, precision of the range, order of ranges, order of offers. */
function acceptable(accept: string | null, offers: readonly string[]): string[] {
  if (accept === null || accept.trim() === '') return [...offers];
  const ranges = accept.split(',').map(mediaRange);
  return offers
    .map((offer) => ({ offer, ...matchOf(offer, ranges) }))
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight || a.wildcards - b.wildcards || a.index - b.index)
    .map(({ offer }) => offer);
}

/** Throws the Problem `not_acceptable`, or `malformed` for a weight that is no number. */
export function negotiated(request: Request, offers: readonly string[]): string {
  const [chosen] = acceptable(request.headers.get('Accept'), offers);
  if (chosen === undefined) throw new Problem('not_acceptable', `it can be given as ${offers.join(' or ')}`);
  return chosen;
}

/** The value as it is stored, or converted exactly; else throws the Problem `not_acceptable`. */
export function present(value: EncodedValue, request: Request): EncodedValue & { readonly isConverted: boolean } {
  const others: readonly Codec[] = value.codec === 'json' ? ['msgpack'] : value.codec === 'msgpack' ? ['json'] : [];
  const offers = [value.codec, ...others].map((codec) => MEDIA_TYPE_OF[codec]);
  let obstacle = '';
  for (const type of acceptable(request.headers.get('Accept'), offers)) {
    if (type === offers[0]) return { ...value, isConverted: false };
    try {
      return { codec: others[0]!, bytes: converted(value), isConverted: true };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      obstacle = `, not as ${type}: ${error.message}`;
    }
  }
  const list = obstacle === '' ? offers.join(' or ') : offers[0];
  throw new Problem('not_acceptable', `it can be given as ${list}${obstacle}`);
}

/** The value's other form. Checked first, as a library may have stored anything as `encoded`. */
export function converted(value: EncodedValue): Uint8Array {
  const { codec, bytes } = encodedValue(value.codec, value.bytes);
  return codec === 'json' ? msgpackFromJson(bytes) : jsonFromMsgpack(bytes);
}

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

/** ISO 8601, UTC. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** Undefined if JSON cannot express the value, or not every parser would read it. */
function jsonText(value: EncodedValue): string | undefined {
  if (value.codec === 'bytes') return undefined;
  try {
    return UTF8.decode(value.codec === 'json' ? encodedValue('json', value.bytes).bytes : converted(value));
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

type MediaRange = ReturnType<typeof mediaRange>;

function mediaRange(text: string) {
  const [name = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const q = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
  if (q !== undefined && !/^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(q)) throw new Problem('malformed', WRONG_WEIGHT);
  return { type: registered(name), weight: q === undefined ? 1 : Number(q) };
}

const WRONG_WEIGHT = 'a q in Accept is no number from 0 to 1 with at most three decimals: write it as q=0.5';

/** The most specific range decides (RFC 9110, 12.5.1). */
function matchOf(offer: string, ranges: readonly MediaRange[]) {
  const types = [offer, `${offer.split('/')[0]}/*`, '*/*'];
  for (const [wildcards, type] of types.entries()) {
    const index = ranges.findIndex((candidate) => candidate.type === type);
    if (index !== -1) return { weight: ranges[index]!.weight, wildcards, index };
  }
  return { weight: 0, wildcards: 0, index: 0 };
}

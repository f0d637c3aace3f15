// Reads the environment. An error at start names the wrong variable, but never its value.
import * as z from 'zod/mini';
import type { AuthConfig } from '../http/auth.ts';
import type { Origins } from '../http/cors.ts';
import { keyText } from '../http/key-text.ts';
import { reasonOf } from '../http/validate.ts';

/** Variables by name, as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** How requests are traced. OpenTelemetry's exporter itself reads the collector's address. */
export interface TracingConfig {
  readonly service: string;
  /** Traces also requests whose `traceparent` says no. */
  readonly tracesAll: boolean;
}

/** The settings both clouds' functions share. */
export interface FunctionConfig {
  readonly auth: AuthConfig;
  /** Default deadline of a request to `records`. */
  readonly timeoutMs: number;
  /** Container size of all tables, in bytes; left out: the store's default. */
  readonly containerBytesMax?: number;
  /** Pages of these origins may call `records`. */
  readonly origins: Origins;
  /** Spans go to a collector, if one is named. */
  readonly tracing?: TracingConfig;
}

/** A variable is missing or wrong; the message names it. */
export class ConfigError extends Error {}

/** 16 characters of base64 are 96 bits, which nobody guesses. */
const KEY_CHARS_MIN = 16;

/** Each request is compared with all keys, which takes a microsecond per key. */
const ROLE_KEYS_MAX = 32;

const appKey = z.string().check(
  z.regex(/^[\x21-\x7e]+$/, 'keys are printable ASCII without spaces'),
  // Azure passes on the text of a reference that it could not follow, and that text is no secret.
  z.refine((key) => !key.startsWith('@Microsoft.KeyVault('), 'the reference to the key vault is not resolved'),
  z.refine(
    (text) => keyText(text) !== undefined,
    'expected NAME(tables=orders-*;until=2027-01-31)=KEY with one limit or both, the day in full',
  ),
  z.refine(
    (text) => (keyText(text)?.key.length ?? KEY_CHARS_MIN) >= KEY_CHARS_MIN,
    `expected ${KEY_CHARS_MIN} or more characters`,
  ),
);
const texts = z.transform((text: string) => text.split(',').map((one) => one.trim()));
const fewKeys = z.maxLength(ROLE_KEYS_MAX, `at most ${ROLE_KEYS_MAX} keys, separated by commas`);
const appKeys = z.optional(z.pipe(z.pipe(z.string(), texts), z.array(appKey).check(fewKeys)));

const ORIGIN = /^(?:\*|https?:\/\/[a-z0-9.-]+(?::\d{1,5})?)?$/;
const origin = z.string().check(z.regex(ORIGIN, 'expected origins such as https://example.com, or *'));
const origins = z.pipe(z.pipe(z.prefault(z.string(), ''), texts), z.array(origin));

/** `STOWAGE_TRANSPORT`: the driver's own requests, or the cloud's SDK. */
export const TRANSPORT = z.prefault(z.enum(['own', 'sdk']), 'own');

/** `STOWAGE_CHECK`: `1` checks each call to the driver before it is sent. */
export const CHECKS = z.optional(z.literal('1'));

const FUNCTION = z.object({
  STOWAGE_AUTH: z.prefault(z.enum(['keys', 'none']), 'keys'),
  STOWAGE_READ_KEYS: appKeys,
  STOWAGE_WRITE_KEYS: appKeys,
  STOWAGE_ADMIN_KEYS: appKeys,
  STOWAGE_COMPARE_KEYS: appKeys,
  STOWAGE_CORS_ORIGINS: origins,
  STOWAGE_TIMEOUT_MS: z.prefault(z.coerce.number().check(z.int(), z.minimum(1), z.maximum(60_000)), 25_000),
  // An entity of either cloud takes the most.
  STOWAGE_CONTAINER_BYTES_MAX: z.optional(z.coerce.number().check(z.int(), z.minimum(16_384), z.maximum(720_000))),
  OTEL_EXPORTER_OTLP_ENDPOINT: z.optional(z.url({ protocol: /^https?$/, error: 'expected an address, https://...' })),
  OTEL_SERVICE_NAME: z.prefault(z.string(), 'stowage'),
  OTEL_TRACES_SAMPLER: z.prefault(z.enum(['parentbased_always_on', 'always_on']), 'parentbased_always_on'),
});

/** Throws a ConfigError. */
export function functionConfig(env: Environment): FunctionConfig {
  const given = parsedEnvironment(FUNCTION, env);
  const keys = {
    read: given.STOWAGE_READ_KEYS ?? [],
    write: given.STOWAGE_WRITE_KEYS ?? [],
    admin: given.STOWAGE_ADMIN_KEYS ?? [],
    compare: given.STOWAGE_COMPARE_KEYS ?? [],
  };
  const isOpen = given.STOWAGE_AUTH === 'none';
  if (isOpen && Object.values(keys).some(({ length }) => length > 0))
    throw new ConfigError(
      'STOWAGE_AUTH is none, yet keys are configured: nobody would be asked for them; remove one of the two',
    );
  refuseTwice(keys);
  const containerBytesMax = given.STOWAGE_CONTAINER_BYTES_MAX;
  return {
    auth: isOpen ? { mode: 'none' } : { mode: 'keys', keys },
    timeoutMs: given.STOWAGE_TIMEOUT_MS,
    origins: given.STOWAGE_CORS_ORIGINS.filter(Boolean),
    ...(containerBytesMax === undefined ? {} : { containerBytesMax }),
    ...tracingOf(given),
  };
}

/** Refuses a key in two places, because only one of its roles and limits would count. */
function refuseTwice(keys: Readonly<Record<string, readonly string[]>>): void {
  const seen = new Set<string>();
  for (const [role, texts] of Object.entries(keys)) {
    for (const text of texts) {
      const { key } = keyText(text)!;
      if (seen.has(key))
        throw new ConfigError(`STOWAGE_${role.toUpperCase()}_KEYS: one key is configured twice: keep it in one place`);
      seen.add(key);
    }
  }
}

function tracingOf(given: z.output<typeof FUNCTION>): Pick<FunctionConfig, 'tracing'> {
  if (given.OTEL_EXPORTER_OTLP_ENDPOINT === undefined) return {};
  return { tracing: { service: given.OTEL_SERVICE_NAME, tracesAll: given.OTEL_TRACES_SAMPLER === 'always_on' } };
}

/** The schema's names are variables; an empty variable counts as absent. Throws a ConfigError. */
export function parsedEnvironment<Schema extends z.core.$ZodType>(schema: Schema, env: Environment): z.output<Schema> {
  const present = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const result = z.safeParse(schema, present, { error: reasonOf });
  if (!result.success) {
    const issues = result.error.issues.map(({ path, message }) => `${String(path[0])}: ${message}`);
    throw new ConfigError(`wrong environment: ${issues.join('; ')}`);
  }
  for (const name of Object.keys(Object(result.data)))
    // Node.js replaces bytes that are not UTF-8 by this character, which would make two names one.
    if (present[name]?.includes('\u{fffd}') === true) throw new ConfigError(`wrong environment: ${name} is not UTF-8`);
  return result.data;
}

/** The longest deadline of a request to `records`, which both platforms' default timeouts allow. */
export const RECORDS_TIMEOUT_MAX_MS = 60_000;

/** Enough for a cell's warm-up, window and drain. Azure ends every HTTP request after 230 s. */
export const COMPARE_DEADLINES = { timeoutMs: 220_000, timeoutMaxMs: 220_000 } as const;

/** Cloud Scheduler waits for half an hour at most; then the platforms end the function. */
export const VACUUM_DEADLINES = { timeoutMs: 1_790_000, timeoutMaxMs: 1_790_000 } as const;

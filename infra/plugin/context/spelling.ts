// Says what is allowed in errors about serverless.yml and --param.
import { PROVIDER_SCHEMA } from './schema.ts';

/** The part of a JSON schema that is read here. */
interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly enum?: readonly unknown[];
  readonly description?: string;
}

const UNKNOWN = /^at '([^']+)': unrecognized property '[^']+'$/;
const NOT_ALLOWED = /^at '([^']+)': must be equal to one of the allowed values$/;
const NO_MATCH = /^at '([^']+)': must match pattern /;

/** Adds what is allowed, or the form in words, if the framework says neither. */
export function withMeaning(message: string): string {
  const [, parent] = UNKNOWN.exec(message) ?? [];
  if (parent !== undefined) return `${message}; ${knownText(Object.keys(schemaAt(parent)?.properties ?? {}))}`;
  const [, at] = NOT_ALLOWED.exec(message) ?? [];
  if (at !== undefined) return `${message} [${(schemaAt(at)?.enum ?? []).join(', ')}]`;
  const [, formed] = NO_MATCH.exec(message) ?? [];
  const description = formed === undefined ? undefined : schemaAt(formed)?.description;
  return description === undefined ? message : `at '${formed!}': has to be ${description}`;
}

/** Names a `name=value` that no stage declares: nothing reads it. Undefined if all are declared. */
export function unknownParamText(
  given: readonly string[],
  declared: Readonly<Record<string, object>>,
): string | undefined {
  const known = [...new Set(Object.values(declared).flatMap((ofStage) => Object.keys(ofStage)))];
  const unknown = given.find((param) => !known.includes(param.split('=')[0]!));
  if (unknown === undefined) return undefined;
  return `--param ${unknown}: there is no such parameter; ${knownText(known)}`;
}

function knownText(known: readonly string[]): string {
  return `there are ${known.join(', ')}`;
}

/** Finds a setting by its path: `provider.gcp.region`, or `functions.NAME.memoryMb`. */
function schemaAt(path: string): Schema | undefined {
  const [root, ...rest] = path.split('.');
  const within = root === 'functions' ? rest.slice(1) : rest;
  const start = (root === 'functions' ? PROVIDER_SCHEMA.function : PROVIDER_SCHEMA.provider) as Schema;
  return within.reduce<Schema | undefined>((schema, name) => schema?.properties?.[name], start);
}

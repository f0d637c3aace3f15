// The types of Azure Tables as values of records, and back.
import type { TableEntity } from '@azure/data-tables';
import { instantOf, takenInstant } from './instant.ts';
import { PlainError } from './plain-place.ts';
import { about, type SideType, type Taken, takenApart, takenDouble } from './side.ts';

const INT32_MOST = 2 ** 31 - 1;
/** Names of the service's own. */
const SYSTEM = new Set(['PartitionKey', 'RowKey', 'Timestamp']);
const NANOS_PER_TICK = 100;

/** An entity as the service sends it, with types beside the values that JSON cannot tell apart. */
export type AzureJson = Readonly<Record<string, unknown>>;

/** A number that the JSON has with a point or an exponent, so it is a double. */
export class Double {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

/** Parses a page of a listing. `1.0` is another type than `1`, which JSON.parse would lose. */
export function parsePage(text: string): readonly AzureJson[] {
  const parsed = JSON.parse(text, (_, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' && /[.eE]/.test(context?.source ?? '') ? new Double(value) : value,
  ) as { readonly value?: unknown };
  if (!Array.isArray(parsed.value)) throw new PlainError('the service answered a listing without entities');
  return parsed.value as AzureJson[];
}

export function takenProperties(entity: AzureJson): [string, Taken][] {
  return Object.entries(entity)
    .filter(([name]) => !SYSTEM.has(name) && !name.includes('odata.'))
    .map(([name, value]) => [name, takenValue(value, entity[`${name}@odata.type`])]);
}

function takenValue(value: unknown, type: unknown): Taken {
  switch (type) {
    case undefined:
    case 'Edm.String':
    case 'Edm.Boolean':
    case 'Edm.Int32':
      return value instanceof Double ? takenDouble(value.value) : { value };
    case 'Edm.Double':
      return takenDouble(value instanceof Double ? value.value : Number(value));
    case 'Edm.Int64': {
      const exact = BigInt(String(value));
      return Number.isSafeInteger(Number(exact)) ? { value: Number(exact), type: 'int64' } : { value: exact };
    }
    case 'Edm.Guid':
      return { value, type: 'guid' };
    case 'Edm.Binary':
      return { value: new Uint8Array(Buffer.from(String(value), 'base64')) };
    case 'Edm.DateTime':
      return takenInstant(instantOf(value));
    default:
      throw new PlainError(`it has a value of the type ${String(type)}, which Azure Tables did not have`);
  }
}

/** Throws a PlainError that names the property. */
export function azureEntity(value: unknown, partitionKey: string, rowKey: string): TableEntity {
  const { properties, side } = takenApart(value);
  const made = properties.map(([name, one]) =>
    about(name, () => {
      if (SYSTEM.has(name)) throw new PlainError('Azure Tables keeps this name for itself');
      return [name, azureValue(one, side.types?.[name])] as const;
    }),
  );
  return { ...Object.fromEntries(made), partitionKey, rowKey };
}

function azureValue(value: unknown, type: SideType | object | undefined): unknown {
  if (type === 'guid') return { type: 'Guid', value };
  if (type === 'timestamp' || value instanceof Date) return { type: 'DateTime', value: dateTime(value) };
  if (typeof value === 'boolean' || typeof value === 'string' || value instanceof Uint8Array) return value;
  if (typeof value === 'bigint') return { type: 'Int64', value: String(value) };
  if (typeof value === 'number') return azureNumber(value, type);
  const what = value === null ? 'null' : Array.isArray(value) ? 'a list' : 'an object';
  throw new PlainError(`${what} has no type in Azure Tables: put it there as text`);
}

function azureNumber(value: number, type: unknown): unknown {
  if (type === 'double' || !Number.isInteger(value) || Object.is(value, -0))
    return { type: 'Double', value: Number.isFinite(value) && !Object.is(value, -0) ? value : spelled(value) };
  const isInt64 = type === 'int64' || Math.abs(value) > INT32_MOST;
  return isInt64 ? { type: 'Int64', value: String(BigInt(value)) } : { type: 'Int32', value };
}

/** A double that JSON has no number for, as the service writes it. */
function spelled(value: number): string {
  return Object.is(value, -0) ? '-0.0' : Number.isNaN(value) ? 'NaN' : value > 0 ? 'Infinity' : '-Infinity';
}

/** To 100 ns, as finely as the service keeps it. */
function dateTime(value: unknown): string {
  const { seconds, nanos } = instantOf(value);
  if (nanos % NANOS_PER_TICK !== 0) throw new PlainError(`${String(value)} is finer than the 100 ns that Azure keeps`);
  const fraction = String(nanos / NANOS_PER_TICK).padStart(7, '0');
  return new Date(Number(seconds) * 1_000).toISOString().replace(/\.\d+Z$/, `.${fraction}Z`);
}

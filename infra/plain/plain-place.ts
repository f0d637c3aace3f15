// Plain entities, one per record, as both clouds keep them without this store.

/** The properties of an entity as the value of a record, in order of name. */
export type PlainValue = Readonly<Record<string, unknown>>;

export interface PlainRecord {
  readonly key: string;
  readonly value: PlainValue;
}

export interface PlainPage {
  readonly records: readonly PlainRecord[];
  /** Where the next page begins; undefined after the last. */
  readonly cursor: string | undefined;
}

/** A kind of Datastore, or a table of Azure. Errors are the SDK's, or say which entity is wrong. */
export interface PlainPlace {
  /** One request for each page, of some hundred entities and a few MiB. */
  pages(cursor: string | undefined, signal: AbortSignal): AsyncGenerator<PlainPage, void>;
  /** Writes over what is there, in requests of some hundred entities, fewer if they are large. */
  put(records: readonly PlainRecord[], signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** Which entities are read, and which keys their records get. */
export interface PlainOptions {
  /** The records' keys: text with names of properties in braces; undefined: the place's own. */
  readonly key: string | undefined;
  /** A condition in the service's own language: GQL after WHERE, or OData. */
  readonly where: string | undefined;
}

/** An entity cannot become a record, or a record no entity of this service. */
export class PlainError extends Error {
  override readonly name = 'PlainError';
}

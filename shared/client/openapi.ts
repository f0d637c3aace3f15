// The types of the functions' OpenAPI document as openapi-fetch reads them, equal to those that
// openapi-typescript makes of it: tests/infra/package/client-types.test.ts compares the two.
// What each operation does is in functions/README.md.

/** Parts that a path or an operation does not have. */
type Without<Names extends string> = { [Name in Names]?: never };

type Place = 'query' | 'header' | 'path' | 'cookie';

type Method = 'get' | 'put' | 'post' | 'delete' | 'options' | 'head' | 'patch' | 'trace';

/** `Own`: its operations by method. */
type Path<Own> = Own & Without<Exclude<Method, keyof Own>> & { parameters: Without<Place> };

/** `Given`: its parameters by place. All problems are one answer. */
type Operation<Given, Answers, Body = { requestBody?: never }> = Body & {
  parameters: Given & Without<Exclude<Place, keyof Given>>;
  responses: Answers & { default: Answer<{ 'application/problem+json': components['schemas']['Problem'] }> };
};

type Sent<Content> = { requestBody: { content: Content } };

type Answer<Content, Names extends string = never> = { headers: Headers<Names>; content: Content };

type Empty<Names extends string = never> = { headers: Headers<Names>; content?: never };

type Headers<Names extends string> = { [Name in Names]?: string } & { [name: string]: unknown };

type Json<T> = { 'application/json': T };

/** Any value; bytes are given and taken as they are. */
type Value = Json<unknown> & { 'application/vnd.msgpack': unknown; 'application/octet-stream': unknown };

type Lines = { 'application/x-ndjson': unknown };

/** Members that the store may add. */
type More = { [key: string]: unknown };

type OfTable = { path: { table: string } };

type Range = { prefix?: string; from?: string; after?: string; to?: string; through?: string };

type Conditions = { 'If-Match'?: string; 'If-None-Match'?: string };

type Written = { header?: Conditions & { 'Stowage-Ttl-Ms'?: number } };

type Table = { name: string; order: 'hash' | 'key'; groupBy?: string };

type Counts = { containers: number; records: number; bytes: number; findingCount: number };

/** The operations of one record. `Key`: where its key is given; `Change`: the query of its POST. */
type OneRecord<Key, Change> = Path<{
  get: Operation<
    Key & { header?: Conditions },
    { 200: Answer<Value, 'ETag' | 'Stowage-Expires-At' | 'Age'>; 304: Empty<'ETag'> }
  >;
  put: Operation<Key & Written, { 201: Empty<'ETag' | 'Location'>; 204: Empty<'ETag'> }, Sent<Value>>;
  post: Operation<
    Change & Written,
    {
      200: Answer<Json<{ value: number }>, 'ETag' | 'Stowage-Expires-At'>;
      204: Empty<'ETag' | 'Stowage-Expires-At'>;
    }
  >;
  delete: Operation<Key & { header?: Conditions }, { 204: Empty }>;
  patch: Operation<
    Key & Written,
    { 204: Empty<'ETag' | 'Stowage-Expires-At'> },
    Sent<{ 'application/merge-patch+json': unknown }>
  >;
}>;

type KeyInPath = { path: { table: string; key: string } };

type Change = { increment?: number; field?: string };

export interface paths {
  '/v1/health': Path<{ get: Operation<{}, { 200: Answer<Json<{ status: 'ok' }>> }> }>;
  '/v1/ready': Path<{ get: Operation<{}, { 200: Answer<Json<{ status: 'ready' }>> }> }>;
  '/v1/openapi.json': Path<{ get: Operation<{}, { 200: Answer<Json<{ openapi: string } & More>> }> }>;
  '/v1/tables': Path<{
    get: Operation<
      {},
      { 200: Answer<Json<{ tables: ((Table & { createdAt: string }) | { name: string; damage: string })[] }>> }
    >;
  }>;
  '/v1/tables/{table}': Path<{
    get: Operation<OfTable, { 200: Answer<Json<Table & { createdAt: string; stats: More }>> }>;
    put: Operation<
      OfTable,
      { 200: Answer<Json<Table & { warnings?: string[] }>>; 201: Answer<Json<Table & { warnings?: string[] }>> },
      Partial<Sent<Json<{ order?: 'hash' | 'key'; groupBy?: string; containers?: number }>>>
    >;
    delete: Operation<OfTable & { query: { confirm: string } }, { 204: Empty }>;
  }>;
  '/v1/tables/{table}/records/{key}': OneRecord<KeyInPath, KeyInPath & { query?: Change }>;
  /** The same, for front ends that decode the %2F of a path. */
  '/v1/tables/{table}/record': OneRecord<
    OfTable & { query: { key: string } },
    OfTable & { query: Change & { key: string } }
  >;
  '/v1/tables/{table}/records': Path<{
    get: Operation<
      OfTable & { query?: Range & { reverse?: boolean; limit?: number; cursor?: string } },
      { 200: Answer<Json<{ records: StoredRecord[]; cursor?: string }> & Lines, 'Link'> }
    >;
    post: Operation<OfTable, { 200: Answer<Lines> }, Sent<Lines>>;
    delete: Operation<OfTable & { query?: Range & { confirm?: string } }, { 200: Answer<Json<{ deleted: number }>> }>;
  }>;
  '/v1/tables/{table}/count': Path<{
    get: Operation<OfTable & { query?: Range }, { 200: Answer<Json<{ count: number }>> }>;
  }>;
  '/v1/tables/{table}/batch': Path<{
    post: Operation<
      OfTable,
      { 200: Answer<Json<{ outcomes: Outcome[] }> & { 'application/vnd.msgpack': unknown }> },
      Sent<Json<{ operations: (Put | Get | Delete)[]; atomic?: boolean }> & { 'application/vnd.msgpack': unknown }>
    >;
  }>;
  '/v1/tables/{table}/verify': Path<{
    post: Operation<OfTable, { 200: Answer<Json<Counts & { findings: More[] } & More>> }>;
  }>;
  '/v1/tables/{table}/stats': Path<{
    get: Operation<OfTable, { 200: Answer<Json<Counts & More>> }>;
  }>;
  '/v1/tables/{table}/inspect': Path<{
    get: Operation<
      OfTable & { query?: { container?: string; key?: string } },
      { 200: Answer<Json<{ container: string; version: string } & More>> }
    >;
  }>;
}

type StoredRecord = {
  key: string;
  version: string;
  /** ISO 8601. */
  expiresAt?: string;
  contentType: string;
  value?: unknown;
  /** Instead of `value`: the bytes in base64. */
  data?: string;
};

type Put = {
  op: 'put';
  key: string;
  value?: unknown;
  /** Instead of `value`: the bytes in base64, with their `contentType`. */
  data?: string;
  contentType?: 'application/json' | 'application/vnd.msgpack' | 'application/octet-stream';
  ifVersion?: string;
  ifAbsent?: true;
  ttlMs?: number;
};

type Get = { op: 'get'; key: string };

type Delete = { op: 'delete'; key: string; ifVersion?: string };

type Outcome = {
  status: 'found' | 'absent' | 'written' | 'deleted' | 'failed';
  key: string;
  version?: string;
  problem?: { code: string; detail: string } & More;
};

export interface components {
  schemas: {
    Problem: {
      type: string;
      title: string;
      status: number;
      code:
        | 'malformed'
        | 'invalid'
        | 'unauthenticated'
        | 'forbidden'
        | 'route_not_found'
        | 'table_not_found'
        | 'record_not_found'
        | 'method_not_allowed'
        | 'not_acceptable'
        | 'body_timeout'
        | 'conflict'
        | 'precondition_failed'
        | 'too_large'
        | 'unsupported_media_type'
        | 'throttled'
        | 'internal'
        | 'corrupt'
        | 'unavailable'
        | 'aborted'
        | 'unknown';
      detail: string;
      retryable: boolean;
      instance?: string;
    };
  };
}

// Made of the OpenAPI document: tests/infra/package/client-types.test.ts writes it.
export interface paths {
  '/v1/health': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Whether this instance serves; it reads no data. */
    get: operations['health'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/ready': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Whether the store can be read; an instance looks once in five seconds. */
    get: operations['ready'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/openapi.json': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** This document, in OpenAPI 3.1. */
    get: operations['openApi'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/tables': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** The tables that the key opens; `damage` tells why one cannot be read. Needs the role read. */
    get: operations['listTables'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/tables/{table}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** One table, with the counters of this instance. Needs the role read. */
    get: operations['getTable'];
    /** Creates a table, by `{"order", "groupBy", "containers"}`. Needs the role admin. */
    put: operations['createTable'];
    post?: never;
    /** Removes a table and all that it holds; `confirm` is its name again. Needs the role admin. */
    delete: operations['dropTable'];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/tables/{table}/records/{key}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** One record, as it was put or converted exactly. Needs the role read. */
    get: operations['getRecord'];
    /** Puts one record. Needs the role write. */
    put: operations['putRecord'];
    /** Adds to a whole number, the value or its `field`; or gives another expiry; or both. Needs the role write. */
    post: operations['changeRecord'];
    /** Deletes one record, if it is there. Needs the role write. */
    delete: operations['deleteRecord'];
    options?: never;
    head?: never;
    /** Merges members into the value of a record (RFC 7396), and keeps its form and expiry. Needs the role write. */
    patch: operations['patchRecord'];
    trace?: never;
  };
  '/v1/tables/{table}/record': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** One record, as it was put or converted exactly. Needs the role read. */
    get: operations['getRecordByQuery'];
    /** Puts one record. Needs the role write. */
    put: operations['putRecordByQuery'];
    /** Adds to a whole number, the value or its `field`; or gives another expiry; or both. Needs the role write. */
    post: operations['changeRecordByQuery'];
    /** Deletes one record, if it is there. Needs the role write. */
    delete: operations['deleteRecordByQuery'];
    options?: never;
    head?: never;
    /** Merges members into the value of a record (RFC 7396), and keeps its form and expiry. Needs the role write. */
    patch: operations['patchRecordByQuery'];
    trace?: never;
  };
  '/v1/tables/{table}/records': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Records in order: a JSON page of 100, 1,000 at most, or a stream of lines. Needs the role read. */
    get: operations['scanRecords'];
    put?: never;
    /** Puts records, a line each as `stowage export` writes them, and streams an outcome a line. Needs the role write. */
    post: operations['putRecords'];
    /** Deletes the records within bounds; without any, all, if `confirm` is the name of the table. Needs the role write. */
    delete: operations['clearRecords'];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/tables/{table}/count': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** The number of records within bounds. Needs the role read. */
    get: operations['countRecords'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/tables/{table}/batch': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Up to 1,000 operations, with an outcome each; `atomic` all or none. Puts and deletes need the role write. Needs the role read. */
    post: operations['batch'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/tables/{table}/verify': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Reads all that is stored of a table, and tells what is wrong; `aborted` at the deadline. Needs the role admin. */
    post: operations['verifyTable'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/tables/{table}/stats': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Reads all that is stored of a table, and counts it; `aborted` at the deadline. Needs the role admin. */
    get: operations['tableStats'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/tables/{table}/inspect': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** One container as it is stored: the root, the one named, or the leaf that owns a key. Needs the role admin. */
    get: operations['inspectContainer'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
}
export type webhooks = Record<string, never>;
export interface components {
  schemas: {
    Problem: {
      type: string;
      title: string;
      status: number;
      /** @enum {string} */
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
  responses: never;
  parameters: never;
  requestBodies: never;
  headers: never;
  pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
  health: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description It does. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': {
            /** @constant */
            status: 'ok';
          };
        };
      };
      /** @description A problem. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  ready: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description It can. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': {
            /** @constant */
            status: 'ready';
          };
        };
      };
      /** @description A problem. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  openApi: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description OpenAPI 3.1. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': {
            openapi: string;
          } & {
            [key: string]: unknown;
          };
        };
      };
      /** @description A problem. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  listTables: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description By name. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': {
            tables: (
              | {
                  name: string;
                  /** @enum {string} */
                  order: 'hash' | 'key';
                  groupBy?: string;
                  /** Format: date-time */
                  createdAt: string;
                }
              | {
                  name: string;
                  damage: string;
                }
            )[];
          };
        };
      };
      /** @description A problem. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  getTable: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        table: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The table. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': {
            name: string;
            /** @enum {string} */
            order: 'hash' | 'key';
            groupBy?: string;
            /** Format: date-time */
            createdAt: string;
            stats: {
              [key: string]: unknown;
            };
          };
        };
      };
      /** @description A problem. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  createTable: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        table: string;
      };
      cookie?: never;
    };
    requestBody?: {
      content: {
        'application/json': {
          /** @enum {string} */
          order?: 'hash' | 'key';
          groupBy?: string;
          containers?: number;
        };
      };
    };
    responses: {
      /** @description It existed, with this order. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': {
            name: string;
            /** @enum {string} */
            order: 'hash' | 'key';
            groupBy?: string;
            warnings?: string[];
          };
        };
      };
      /** @description It is new. */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': {
            name: string;
            /** @enum {string} */
            order: 'hash' | 'key';
            groupBy?: string;
            warnings?: string[];
          };
        };
      };
      /** @description A problem. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  dropTable: {
    parameters: {
      query: {
        confirm: string;
      };
      header?: never;
      path: {
        table: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description It is gone. */
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      /** @description A problem. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  getRecord: {
    parameters: {
      query?: never;
      header?: {
        'If-Match'?: string;
        'If-None-Match'?: string;
      };
      path: {
        table: string;
        key: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The value. */
      200: {
        headers: {
          /** @description The version, quoted. */
          ETag?: string;
          /** @description When the record expires, ISO 8601. */
          'Stowage-Expires-At'?: string;
          /** @description With `Cache-Control: max-age`: seconds since this was known to hold. */
          Age?: string;
          [name: string]: unknown;
        };
        content: {
          'application/json': unknown;
          'application/vnd.msgpack': unknown;
          'application/octet-stream': unknown;
        };
      };
      /** @description The caller has it. */
      304: {
        headers: {
          /** @description The version, quoted. */
          ETag?: string;
          [name: string]: unknown;
        };
        content?: never;
      };
      /** @description A problem. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  putRecord: {
    parameters: {
      query?: never;
      header?: {
        'If-Match'?: string;
        'If-None-Match'?: string;
        'Stowage-Ttl-Ms'?: number;
      };
      path: {
        table: string;
        key: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': unknown;
        'application/vnd.msgpack': unknown;
        'application/octet-stream': unknown;
      };
    };
    responses: {
      /** @description With `If-None-Match`: the record is new. */
      201: {
        headers: {
          /** @description The version, quoted. */
          ETag?: string;
          /** @description Its path. */
          Location?: string;
          [name: string]: unknown;
        };
        content?: never;
      };
      /** @description It is put. */
      204: {
        headers: {
          /** @description The version, quoted. */
          ETag?: string;
          [name: string]: unknown;
        };
        content?: never;
      };
      /** @description A problem. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  changeRecord: {
    parameters: {
      query?: {
        increment?: number;
        field?: string;
      };
      header?: {
        'If-Match'?: string;
        'If-None-Match'?: string;
        'Stowage-Ttl-Ms'?: number;
      };
      path: {
        table: string;
        key: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The sum. */
      200: {
        headers: {
          /** @description The version, quoted. */
          ETag?: string;
          /** @description When the record expires, ISO 8601. */
          'Stowage-Expires-At'?: string;
          [name: string]: unknown;
        };
        content: {
          'application/json': {
            value: number;
          };
        };
      };
      /** @description It expires then. */
      204: {
        headers: {
          /** @description The version, quoted. */
          ETag?: string;
          /** @description When the record expires, ISO 8601. */
          'Stowage-Expires-At'?: string;
          [name: string]: unknown;
        };
        content?: never;
      };
      /** @description A problem. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  deleteRecord: {
    parameters: {
      query?: never;
      header?: {
        'If-Match'?: string;
        'If-None-Match'?: string;
      };
      path: {
        table: string;
        key: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description There is none now. */
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      /** @description A problem. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  patchRecord: {
    parameters: {
      query?: never;
      header?: {
        'If-Match'?: string;
        'If-None-Match'?: string;
        'Stowage-Ttl-Ms'?: number;
      };
      path: {
        table: string;
        key: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/merge-patch+json': unknown;
      };
    };
    responses: {
      /** @description It is patched. */
      204: {
        headers: {
          /** @description The version, quoted. */
          ETag?: string;
          /** @description When the record expires, ISO 8601. */
          'Stowage-Expires-At'?: string;
          [name: string]: unknown;
        };
        content?: never;
      };
      /** @description A problem. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  getRecordByQuery: {
    parameters: {
      query: {
        key: string;
      };
      header?: {
        'If-Match'?: string;
        'If-None-Match'?: string;
      };
      path: {
        table: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The value. */
      200: {
        headers: {
          /** @description The version, quoted. */
          ETag?: string;
          /** @description When the record expires, ISO 8601. */
          'Stowage-Expires-At'?: string;
          /** @description With `Cache-Control: max-age`: seconds since this was known to hold. */
          Age?: string;
          [name: string]: unknown;
        };
        content: {
          'application/json': unknown;
          'application/vnd.msgpack': unknown;
          'application/octet-stream': unknown;
        };
      };
      /** @description The caller has it. */
      304: {
        headers: {
          /** @description The version, quoted. */
          ETag?: string;
          [name: string]: unknown;
        };
        content?: never;
      };
      /** @description A problem. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  putRecordByQuery: {
    parameters: {
      query: {
        key: string;
      };
      header?: {
        'If-Match'?: string;
        'If-None-Match'?: string;
        'Stowage-Ttl-Ms'?: number;
      };
      path: {
        table: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': unknown;
        'application/vnd.msgpack': unknown;
        'application/octet-stream': unknown;
      };
    };
    responses: {
      /** @description With `If-None-Match`: the record is new. */
      201: {
        headers: {
          /** @description The version, quoted. */
          ETag?: string;
          /** @description Its path. */
          Location?: string;
          [name: string]: unknown;
        };
        content?: never;
      };
      /** @description It is put. */
      204: {
        headers: {
          /** @description The version, quoted. */
          ETag?: string;
          [name: string]: unknown;
        };
        content?: never;
      };
      /** @description A problem. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  changeRecordByQuery: {
    parameters: {
      query: {
        increment?: number;
        field?: string;
        key: string;
      };
      header?: {
        'If-Match'?: string;
        'If-None-Match'?: string;
        'Stowage-Ttl-Ms'?: number;
      };
      path: {
        table: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The sum. */
      200: {
        headers: {
          /** @description The version, quoted. */
          ETag?: string;
          /** @description When the record expires, ISO 8601. */
          'Stowage-Expires-At'?: string;
          [name: string]: unknown;
        };
        content: {
          'application/json': {
            value: number;
          };
        };
      };
      /** @description It expires then. */
      204: {
        headers: {
          /** @description The version, quoted. */
          ETag?: string;
          /** @description When the record expires, ISO 8601. */
          'Stowage-Expires-At'?: string;
          [name: string]: unknown;
        };
        content?: never;
      };
      /** @description A problem. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  deleteRecordByQuery: {
    parameters: {
      query: {
        key: string;
      };
      header?: {
        'If-Match'?: string;
        'If-None-Match'?: string;
      };
      path: {
        table: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description There is none now. */
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      /** @description A problem. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  patchRecordByQuery: {
    parameters: {
      query: {
        key: string;
      };
      header?: {
        'If-Match'?: string;
        'If-None-Match'?: string;
        'Stowage-Ttl-Ms'?: number;
      };
      path: {
        table: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/merge-patch+json': unknown;
      };
    };
    responses: {
      /** @description It is patched. */
      204: {
        headers: {
          /** @description The version, quoted. */
          ETag?: string;
          /** @description When the record expires, ISO 8601. */
          'Stowage-Expires-At'?: string;
          [name: string]: unknown;
        };
        content?: never;
      };
      /** @description A problem. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  scanRecords: {
    parameters: {
      query?: {
        prefix?: string;
        from?: string;
        after?: string;
        to?: string;
        through?: string;
        reverse?: boolean;
        limit?: number;
        cursor?: string;
      };
      header?: never;
      path: {
        table: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Records, and where to go on. */
      200: {
        headers: {
          /** @description The next page (RFC 8288). */
          Link?: string;
          [name: string]: unknown;
        };
        content: {
          'application/json': {
            records: {
              key: string;
              version: string;
              /** Format: date-time */
              expiresAt?: string;
              contentType: string;
              value?: unknown;
              data?: string;
            }[];
            cursor?: string;
          };
          'application/x-ndjson': unknown;
        };
      };
      /** @description A problem. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  putRecords: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        table: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/x-ndjson': unknown;
      };
    };
    responses: {
      /** @description Outcomes in the order of lines. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/x-ndjson': unknown;
        };
      };
      /** @description A problem. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  clearRecords: {
    parameters: {
      query?: {
        prefix?: string;
        from?: string;
        after?: string;
        to?: string;
        through?: string;
        confirm?: string;
      };
      header?: never;
      path: {
        table: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Their number. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': {
            deleted: number;
          };
        };
      };
      /** @description A problem. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  countRecords: {
    parameters: {
      query?: {
        prefix?: string;
        from?: string;
        after?: string;
        to?: string;
        through?: string;
      };
      header?: never;
      path: {
        table: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The number. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': {
            count: number;
          };
        };
      };
      /** @description A problem. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  batch: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        table: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': {
          operations: (
            | {
                /** @constant */
                op: 'put';
                key: string;
                value?: unknown;
                data?: string;
                /** @enum {string} */
                contentType?: 'application/json' | 'application/vnd.msgpack' | 'application/octet-stream';
                ifVersion?: string;
                /** @constant */
                ifAbsent?: true;
                ttlMs?: number;
              }
            | {
                /** @constant */
                op: 'get';
                key: string;
              }
            | {
                /** @constant */
                op: 'delete';
                key: string;
                ifVersion?: string;
              }
          )[];
          atomic?: boolean;
        };
        'application/vnd.msgpack': unknown;
      };
    };
    responses: {
      /** @description Outcomes in the order of operations. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': {
            outcomes: {
              /** @enum {string} */
              status: 'found' | 'absent' | 'written' | 'deleted' | 'failed';
              key: string;
              version?: string;
              problem?: {
                code: string;
                detail: string;
              } & {
                [key: string]: unknown;
              };
            }[];
          };
          'application/vnd.msgpack': unknown;
        };
      };
      /** @description A problem. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  verifyTable: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        table: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Counts and findings. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': {
            containers: number;
            records: number;
            bytes: number;
            findingCount: number;
            findings: {
              [key: string]: unknown;
            }[];
          } & {
            [key: string]: unknown;
          };
        };
      };
      /** @description A problem. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  tableStats: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        table: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Counts, also by level. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': {
            containers: number;
            records: number;
            bytes: number;
            findingCount: number;
          } & {
            [key: string]: unknown;
          };
        };
      };
      /** @description A problem. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  inspectContainer: {
    parameters: {
      query?: {
        container?: string;
        key?: string;
      };
      header?: never;
      path: {
        table: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Its header and pages. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': {
            container: string;
            version: string;
          } & {
            [key: string]: unknown;
          };
        };
      };
      /** @description A problem. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
}

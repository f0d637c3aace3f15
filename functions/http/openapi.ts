// An OpenAPI 3.1 document of an app's routes, made of the schemas that validate requests.
import * as z from 'zod/mini';
import { type Route, shownPath } from './app.ts';
import { type ProblemCode, PROBLEMS } from './problem.ts';

type Schema = z.core.$ZodType;

/** Schemas by media type; `binary` is any sequence of bytes. */
type Content = Readonly<Record<string, Schema | 'binary'>>;

/** One method of one path, as the document tells it. */
export interface Operation {
  readonly id: string;
  readonly summary: string;
  readonly headers?: Readonly<Record<string, Schema>>;
  readonly body?: { readonly content: Content; readonly isOptional?: boolean };
  /** Successful answers by status. */
  readonly answers: Readonly<Record<number, Answer>>;
  /** Problems that it may answer, beside those of every operation. */
  readonly problems?: readonly ProblemCode[];
}

export interface Answer {
  readonly description: string;
  readonly content?: Content;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Any operation may answer these. */
const EVERYWHERE: readonly ProblemCode[] = [
  'malformed',
  'invalid',
  'method_not_allowed',
  'not_acceptable',
  'too_large',
  'throttled',
  'internal',
  'unavailable',
  'aborted',
];

const WITH_A_KEY: readonly ProblemCode[] = ['unauthenticated', 'forbidden'];

const PROBLEM = z.strictObject({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  code: z.enum(Object.keys(PROBLEMS) as [ProblemCode, ...ProblemCode[]]),
  detail: z.string(),
  retryable: z.boolean(),
  instance: z.exactOptional(z.string()),
});

/**
 * `operations` by method and path, such as `GET /v1/tables/{table}`; `routes` have their roles and
 * queries, `inPath` the parameters. Throws if one of them is no route.
 */
export function openApi(
  operations: Readonly<Record<string, Operation>>,
  routes: readonly Route[],
  inPath: Readonly<Record<string, Schema>>,
): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const [name, operation] of Object.entries(operations)) {
    const [method = '', path = ''] = name.split(' ');
    const places = [...path.matchAll(/\{(\w+)\}/g)].map(([, place = '']) => [place, inPath[place]!] as const);
    const route = routes.find((one) => one.method === method && shownPath(one) === path);
    if (route === undefined) throw new Error(`the document has ${name}, which is no route`);
    (paths[path] ??= {})[method.toLowerCase()] = operationOf(operation, route, Object.fromEntries(places));
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Stowage records', version: '1' },
    paths,
    components: {
      schemas: { Problem: schemaOf(PROBLEM) },
      securitySchemes: { appKey: { type: 'http', scheme: 'bearer' } },
    },
  };
}

function operationOf(operation: Operation, { role, query }: Route, path: Readonly<Record<string, Schema>>): object {
  const { id, summary, headers = {}, body, answers, problems = [] } = operation;
  const codes = [...EVERYWHERE, ...(role === undefined ? [] : WITH_A_KEY), ...problems];
  return {
    operationId: id,
    summary: role === undefined ? summary : `${summary} Needs the role ${String(role)}.`,
    security: role === undefined ? [] : [{ appKey: [] }],
    parameters: [
      ...parametersOf('path', path),
      ...parametersOf('query', query === undefined || query === 'unread' ? {} : query.shape),
      ...parametersOf('header', headers),
    ],
    ...(body === undefined ? {} : { requestBody: { required: body.isOptional !== true, ...contentOf(body.content) } }),
    responses: { ...mapped(answers, answerOf), ...problemsOf(codes) },
  };
}

function parametersOf(place: 'path' | 'query' | 'header', schemas: Readonly<Record<string, Schema>>): object[] {
  return Object.entries(schemas).map(([name, schema]) => ({
    name,
    in: place,
    required: place === 'path' || (place === 'query' && !(schema instanceof z.ZodMiniExactOptional)),
    schema: schemaOf(schema),
  }));
}

function answerOf({ description, content, headers = {} }: Answer): object {
  const described = mapped(headers, (text) => ({ description: text, schema: { type: 'string' } }));
  return { description, headers: described, ...(content === undefined ? {} : contentOf(content)) };
}

function contentOf(content: Content): object {
  return { content: mapped(content, (schema) => (schema === 'binary' ? {} : { schema: schemaOf(schema) })) };
}

/** Codes of one status share a response. */
function problemsOf(codes: readonly ProblemCode[]): Record<string, object> {
  const content = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } };
  const byStatus = Map.groupBy(new Set(codes), (code) => PROBLEMS[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, list]) => [status, { description: `Problem: ${list.join(', ')}`, content }]),
  );
}

function mapped<From, To>(record: Readonly<Record<string, From>>, to: (from: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, to(value)]));
}

/** The schema behind transforms. A value that a request carries as it is may be any JSON. */
function schemaOf(schema: Schema): object {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io: 'output',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      // Bytes are binary in MessagePack alone: JSON has only the other branch.
      if (jsonSchema.anyOf !== undefined)
        jsonSchema.anyOf = jsonSchema.anyOf.filter((branch) => Object.keys(branch).length > 0);
    },
  });
  return rest;
}

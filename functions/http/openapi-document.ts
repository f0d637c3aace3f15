// Makes an OpenAPI 3.1 document of an app's routes, from the schemas that validate requests.
import * as z from 'zod/mini';
import { PROBLEM_BODY, type ProblemCode, PROBLEMS } from './problem.ts';
import { type Answer, type Content, type Route, routesIn, type RouteTable, shownPath } from './route.ts';

type Schema = z.core.$ZodType;

const UNREADABLE = ['malformed', 'invalid', 'method_not_allowed', 'not_acceptable', 'too_large'] as const;
/** Any operation may answer these. */
const EVERYWHERE = [...UNREADABLE, 'throttled', 'internal', 'unavailable', 'aborted'] as const;
const WITH_A_KEY = ['unauthenticated', 'forbidden'] as const;

/** `inPath` has the schemas of the parameters in paths. */
export function openApi(table: RouteTable, inPath: Readonly<Record<string, Schema>>): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routesIn(table).filter(({ id }) => id !== undefined)) {
    const path = shownPath(route);
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => [name, inPath[name]!] as const);
    (paths[path] ??= {})[route.method.toLowerCase()] = operationOf(route, Object.fromEntries(names));
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Stowage records', version: '1' },
    paths,
    components: {
      schemas: { Problem: schemaOf(PROBLEM_BODY) },
      securitySchemes: { appKey: { type: 'http', scheme: 'bearer' } },
    },
  };
}

function operationOf(route: Route, path: Readonly<Record<string, Schema>>): object {
  const { id, role, summary, query, headers = {}, body, answers = {}, problems = [] } = route;
  const codes = [...EVERYWHERE, ...(role === undefined ? [] : WITH_A_KEY), ...problems];
  return {
    operationId: id,
    summary: role === undefined ? summary : `${summary} Needs the role ${role}.`,
    security: role === undefined ? [] : [{ appKey: [] }],
    parameters: [
      ...parametersOf('path', path),
      ...parametersOf('query', query?.shape ?? {}),
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

/** The schema of what transforms give. A value that is stored as it was sent may be any JSON. */
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

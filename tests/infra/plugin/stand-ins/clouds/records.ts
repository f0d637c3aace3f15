// A deployed `records` for both clouds in memory: health, and records by path in a map.
export interface Asked {
  readonly method: string;
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Answered {
  readonly status: number;
  readonly body: string;
}

/** The platform has let the request in; the function has its own gate. */
export function answerOf(
  { method, path, headers, body }: Asked,
  appKeys: readonly string[],
  records: Map<string, string>,
): Answered {
  const key = (headers['authorization'] ?? '').replace('Bearer ', '');
  if (!appKeys.includes(key)) return { status: 401, body: 'not this app key' };
  if (path === '/v1/health') return { status: 200, body: '{"status":"ok"}' };
  if (path === '/v1/tables') return { status: 200, body: '{"tables":[{"name":"users"}]}' };
  if (method === 'PUT') records.set(path, body);
  if (method === 'DELETE') records.delete(path);
  return records.has(path) || method !== 'GET'
    ? { status: 200, body: records.get(path) ?? '' }
    : { status: 404, body: 'no such record' };
}

// Proves that functions serve: writes one record and reads it back, byte for byte.

export interface Served {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

const REQUEST_TIMEOUT_MS = 60_000;

/** Throws if a request fails, or if the record comes back changed. Three round trips. */
export async function proveRecord(
  served: Served,
  [table, key]: readonly [table: string, key: string],
  body: string,
  signal?: AbortSignal,
): Promise<void> {
  const path = `/v1/tables/${table}/records/${encodeURIComponent(key)}`;
  await ask(served, `/v1/tables/${table}`, { method: 'PUT', body: '{}' }, signal);
  await ask(served, path, { method: 'PUT', body }, signal);
  const answer = await ask(served, path, {}, signal);
  if (answer !== body) throw new Error(`${served.url}${path} returned ${answer} for ${body}`);
}

/** The text of an answer in JSON. Throws, with its beginning, if the status is an error. */
export async function ask(
  { url, headers }: Served,
  path: string,
  init: Pick<RequestInit, 'method' | 'body'> = {},
  signal?: AbortSignal,
): Promise<string> {
  const timeout = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
  const response = await fetch(url + path, {
    ...init,
    headers: { ...headers, Accept: 'application/json', 'Content-Type': 'application/json' },
    // Credentials must not follow to another place.
    redirect: 'manual',
    signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
  });
  const text = await response.text();
  if (response.ok) return text;
  throw new Error(`${init.method ?? 'GET'} ${url}${path} answered ${response.status} ${text.slice(0, 300)}`);
}

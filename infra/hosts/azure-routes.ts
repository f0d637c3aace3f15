// Azure's routes, as far as used: literals win over `{name}`, `{name}` over a last `{*name}`.

export interface AzureRoute {
  readonly segments: readonly string[];
  readonly methods: readonly string[];
}

/** `template` without a leading slash; an empty prefix leaves one, which is dropped. */
export function routeOf(template: string, methods: readonly string[]): AzureRoute {
  return { segments: segmentsOf(template), methods: methods.map((method) => method.toUpperCase()) };
}

/** The most specific candidate that takes the method and the path. */
export function matchRoute<T extends { readonly route: AzureRoute }>(
  candidates: readonly T[],
  method: string,
  url: string,
): T | undefined {
  const segments = segmentsOf(url.split('?')[0] ?? '');
  const matching = candidates.filter(({ route }) => route.methods.includes(method) && covers(route, segments));
  return matching.toSorted((a, b) => (rankOf(a.route) < rankOf(b.route) ? -1 : 1))[0];
}

function segmentsOf(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '');
}

function covers({ segments }: AzureRoute, path: readonly string[]): boolean {
  const catchAll = segments.at(-1)?.startsWith('{*') === true;
  const fixed = catchAll ? segments.slice(0, -1) : segments;
  if (catchAll ? path.length < fixed.length : path.length !== fixed.length) return false;
  return fixed.every((segment, i) => segment.startsWith('{') || segment.toLowerCase() === path[i]!.toLowerCase());
}

/** Sorts before what is less specific. */
function rankOf({ segments }: AzureRoute): string {
  return segments.map((segment) => (segment.startsWith('{*') ? 'c' : segment.startsWith('{') ? 'b' : 'a')).join('');
}

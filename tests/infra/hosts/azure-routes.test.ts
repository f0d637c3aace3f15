// Routes as the local Azure host understands them.
import { expect, test } from 'vitest';
import { matchRoute, routeOf } from '../../../infra/hosts/azure-routes.ts';

const routes = ['{*path}', 'v1/health/{*rest}', 'v1/health', 'v1/{name}', 'v1/compare/cells'].map((name) => ({
  name,
  route: routeOf(`/${name}`, ['GET']),
}));

test.each([
  ['/v1/health', 'v1/health'],
  ['/V1/Health?x=1', 'v1/health'],
  ['/v1/health/of/all', 'v1/health/{*rest}'],
  ['/v1/tables', 'v1/{name}'],
  ['/v1/compare/cells', 'v1/compare/cells'],
  ['/v1/compare/cells/x', '{*path}'],
  ['/', '{*path}'],
])('a request to %s takes the route %s', (url, name) => {
  expect(matchRoute(routes, 'GET', url)?.name).toBe(name);
});

test('a method that is not registered has no route', () => {
  expect(matchRoute(routes, 'POST', '/v1/health')).toBeUndefined();
});

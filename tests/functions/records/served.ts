// The function `records` in this process, on a store that a test has opened, or an empty one.
import type { App, FrameOptions } from '../../../functions/http/http-app.ts';
import { type Environment, functionConfig } from '../../../functions/instance/config.ts';
import { createRecordsApp } from '../../../functions/records/records-app.ts';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import { openStore, type Store } from '../../../shared/store/index.ts';
import { KEYS, KEYS_ENV } from '../test-keys.ts';
import { type Client, clientOf } from '../suite/http-client.ts';

/** It takes the suite's keys; `env` is the rest of its environment. */
export function served(
  store: Store = openStore({ driver: memoryDriver() }),
  env: Environment = {},
  log: FrameOptions['log'] = () => {},
  tracer?: FrameOptions['tracer'],
): Client & { app: App } {
  const config = functionConfig({ ...KEYS_ENV, ...env });
  const app = createRecordsApp({ ...config, timeoutMaxMs: 60_000, store: async () => store, log, tracer });
  const send = (path: string, init?: RequestInit) => app.fetch(new Request(`http://localhost${path}`, init));
  return { app, ...clientOf('the app', send, KEYS) };
}

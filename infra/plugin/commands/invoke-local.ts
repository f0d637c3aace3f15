// `serverless invoke local`: a package in its local host. A scheduled one is called as scheduled.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Provider } from '../../../shared/lab/kit/dimensions.ts';
import { untilInterrupted } from '../../cli/interrupt.ts';
import { FUNCTIONS } from '../../package/package.ts';
import { type FunctionName, type RunningFunction, startFunction } from '../../start/clouds.ts';
import type { Context } from '../context/context.ts';
import { DeployError } from '../context/settings.ts';
import { Interrupted } from '../context/tools.ts';
import { type Invocation, invocationOf, type InvokeOptions, send } from './invoke.ts';

const PROVIDER_OF = { gcp: 'datastore', azure: 'azure-tables' } as const;

/** As Cloud Scheduler does, and as Azure's timers by hand, which answer before the run ends. */
const SCHEDULER: Readonly<Record<Provider, Invocation>> = {
  datastore: { path: '/v1/vacuum', method: 'POST', headers: {} },
  'azure-tables': { path: '/admin/functions/vacuum', method: 'POST', headers: {} },
};

const RUN_TIMEOUT_MS = 240_000;
const POLL_MS = 100;

/** Throws a DeployError on an answer that is an error and on an interruption. */
export async function invokeLocal({ settings, log }: Context, options: InvokeOptions): Promise<void> {
  const given = await invocationOf(FUNCTIONS, options);
  const isScheduled = options.function === 'vacuum' && options.data === undefined && options.path === undefined;
  const code = await untilInterrupted(async (signal) => {
    const { running, close } = await startFunction(options.function as FunctionName, {
      datastore: 'embedded',
      providers: settings.clouds.map((cloud) => PROVIDER_OF[cloud]),
      signal,
    });
    try {
      for (const one of running) {
        const invocation = isScheduled ? SCHEDULER[one.provider] : given;
        const status = await send(
          { log },
          { ...one, credentials: one.headers(options.function as FunctionName) },
          invocation,
          signal,
        );
        if (status === 202) log(await lineOf(one, signal));
      }
    } finally {
      await close();
    }
  });
  if (code !== undefined) throw new Interrupted('interrupted');
}

/** The last line of a run begun by hand. */
async function lineOf(running: RunningFunction, signal: AbortSignal): Promise<string> {
  const deadlineMs = performance.now() + RUN_TIMEOUT_MS;
  while (performance.now() < deadlineMs) {
    const line = running
      .output()
      .split('\n')
      .find((one) => /vacuum(: | failed)/.test(one));
    if (line !== undefined) return line;
    await sleep(POLL_MS, undefined, { signal });
  }
  throw new DeployError(`${running.name}: the run did not end within ${RUN_TIMEOUT_MS / 1_000} s`);
}

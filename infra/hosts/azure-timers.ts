// Runs a timer by hand: `POST /admin/functions/{name}` answers 202 at once. No clock runs here.
import { randomUUID } from 'node:crypto';
import { type FunctionCallback, type FunctionMetadata, type ProgrammingModel, writeLog } from './azure-core.ts';

/** A function that a timer would run. */
export interface TimerFunction {
  readonly metadata: FunctionMetadata;
  readonly callback: FunctionCallback;
  /** The binding's name. */
  readonly triggerName: string;
}

const ADMIN = /^\/admin\/functions\/([\w-]+)$/;

/** The registered function that this request wants to run; undefined if it wants something else. */
export function timerFor(
  functions: ReadonlyMap<string, { metadata: FunctionMetadata; callback: FunctionCallback }>,
  method: string | undefined,
  url: string | undefined,
): TimerFunction | undefined {
  const name = ADMIN.exec(url ?? '')?.[1];
  const found = name === undefined || method !== 'POST' ? undefined : functions.get(name);
  const trigger = Object.entries(found?.metadata.bindings ?? {}).find(([, { type }]) => type === 'timerTrigger');
  return found === undefined || trigger === undefined ? undefined : { ...found, triggerName: trigger[0] };
}

/** Runs it once, as the worker does. Never rejects: a failure is logged. */
export async function runTimer(
  model: ProgrammingModel,
  { metadata, callback, triggerName }: TimerFunction,
): Promise<void> {
  const invocationId = randomUUID();
  const timer = { Schedule: { AdjustForDST: true }, ScheduleStatus: null, IsPastDue: false };
  const invocation = model.getInvocationModel({
    invocationId,
    metadata,
    state: undefined,
    log: writeLog,
    request: {
      invocationId,
      functionId: metadata.name,
      inputData: [{ name: triggerName, data: { json: JSON.stringify(timer) } }],
      triggerMetadata: {},
      traceContext: { traceParent: '' },
    },
  });
  try {
    const { context, inputs } = await invocation.getArguments();
    await invocation.getResponse(context, await invocation.invokeFunction(context, inputs, callback));
  } catch (error) {
    writeLog('error', 'system', `${metadata.name} failed: ${error instanceof Error ? error.message : String(error)}`);
  }
}

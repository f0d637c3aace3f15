// Runs a timer by hand: `POST /admin/functions/{name}` answers 202 at once. No clock runs here.
import { randomUUID } from 'node:crypto';
import { invoke, type ProgrammingModel, type RegisteredFunction, writeLog } from './azure-core.ts';

/** A function that a timer would run. */
export interface TimerFunction extends RegisteredFunction {
  /** The binding's name. */
  readonly triggerName: string;
}

const ADMIN = /^\/admin\/functions\/([\w-]+)$/;

/** The registered function that this request wants to run; undefined if it wants something else. */
export function timerFor(
  functions: ReadonlyMap<string, RegisteredFunction>,
  method: string | undefined,
  url: string,
): TimerFunction | undefined {
  const name = ADMIN.exec(url)?.[1];
  const found = name === undefined || method !== 'POST' ? undefined : functions.get(name);
  const trigger = Object.entries(found?.metadata.bindings ?? {}).find(([, { type }]) => type === 'timerTrigger');
  return found === undefined || trigger === undefined ? undefined : { ...found, triggerName: trigger[0] };
}

/** Runs it once. Never rejects: a failure is logged. */
export async function runTimer(model: ProgrammingModel, timer: TimerFunction): Promise<void> {
  const state = { Schedule: { AdjustForDST: true }, ScheduleStatus: null, IsPastDue: false };
  const given = {
    invocationId: randomUUID(),
    inputData: [{ name: timer.triggerName, data: { json: JSON.stringify(state) } }],
    triggerMetadata: {},
    traceContext: { traceParent: '' },
  };
  try {
    await invoke(model, timer, given);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    writeLog('error', 'system', `${timer.metadata.name} failed: ${why}`);
  }
}

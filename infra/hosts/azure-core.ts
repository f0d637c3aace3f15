// Stands in for `@azure/functions-core` on this machine: keeps the functions that an app registers.
import { registerHooks } from 'node:module';

/** The part of `app.http`'s metadata that an HTTP host needs. */
interface FunctionMetadata {
  readonly name: string;
  readonly bindings: Readonly<Record<string, Binding>>;
}

export interface Binding {
  readonly type: string;
  readonly route?: string;
  readonly methods?: readonly string[];
  readonly authLevel?: 'anonymous' | 'function' | 'admin';
}

type FunctionCallback = (...args: unknown[]) => unknown;

/** How the library runs an invocation. */
interface InvocationModel {
  getArguments(): Promise<{ context: unknown; inputs: unknown[] }>;
  invokeFunction(context: unknown, inputs: unknown[], callback: FunctionCallback): Promise<unknown>;
  getResponse(context: unknown, result: unknown): Promise<unknown>;
}

export interface ProgrammingModel {
  getInvocationModel(coreContext: unknown): InvocationModel;
  getCapabilities(capabilities: Record<string, string>): Promise<Record<string, string>>;
}

export interface RegisteredFunction {
  readonly metadata: FunctionMetadata;
  readonly callback: FunctionCallback;
}

export interface Registered {
  readonly functions: Map<string, RegisteredFunction>;
  model: ProgrammingModel | undefined;
}

/** The part of the worker's message that depends on the trigger. */
export interface Invocation {
  readonly invocationId: string;
  readonly inputData: readonly object[];
  readonly triggerMetadata: object;
  readonly traceContext: { readonly traceParent: string };
}

const MODULE_NAME = '@azure/functions-core';
const MODULE_URL = 'stowage:functions-core';
/** The global under which the synthetic module finds its exports. */
const EXPORTS = '__stowageFunctionsCore';

/** Supplies all code loaded from now on. Returns the functions, registered as bundles load. */
export function supplyFunctionsCore(): Registered {
  const registered: Registered = { functions: new Map(), model: undefined };
  Object.defineProperty(globalThis, EXPORTS, { value: coreOf(registered) });
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === MODULE_NAME
        ? { url: MODULE_URL, format: 'commonjs', shortCircuit: true }
        : next(specifier, context),
    load: (url, context, next) =>
      url === MODULE_URL
        ? { format: 'commonjs', source: `module.exports = globalThis.${EXPORTS};`, shortCircuit: true }
        : next(url, context),
  });
  return registered;
}

function coreOf(registered: Registered) {
  return {
    version: '4.0.0',
    hostVersion: '4.1000.0',
    registerFunction(metadata: FunctionMetadata, callback: FunctionCallback) {
      registered.functions.set(metadata.name, { metadata, callback });
      return { dispose: () => void registered.functions.delete(metadata.name) };
    },
    setProgrammingModel(model: ProgrammingModel) {
      registered.model = model;
    },
    registerHook: () => ({ dispose: () => {} }),
    log: writeLog,
  };
}

/** Prints the log lines of functions and library, except the library's debug lines. */
export function writeLog(level: string, _category: string, message: string): void {
  if (level === 'trace' || level === 'debug') return;
  process.stdout.write(`${message}\n`);
}

/** Runs a function once, as the worker does. */
export async function invoke(
  model: ProgrammingModel,
  { metadata, callback }: RegisteredFunction,
  given: Invocation,
): Promise<void> {
  const { invocationId } = given;
  const request = { functionId: metadata.name, ...given };
  const invocation = model.getInvocationModel({ invocationId, metadata, state: undefined, log: writeLog, request });
  const { context, inputs } = await invocation.getArguments();
  await invocation.getResponse(context, await invocation.invokeFunction(context, inputs, callback));
}

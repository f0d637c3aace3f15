// Wraps the calls: if the table is missing, it is created and the call, which had no effect, is
// sent again.
import { withDeadline } from '../common/driver-outcomes.ts';
import type { TableCalls } from './table-calls.ts';
import { isTableNotFound, isTableThere } from './azure-errors.ts';

export function creatingTable(calls: TableCalls): TableCalls {
  let creating: Promise<void> | undefined;
  const send = async <T>(untilMs: number, request: () => Promise<T>): Promise<T> => {
    try {
      return await request();
    } catch (error) {
      if (!isTableNotFound(error)) throw error;
    }
    creating ??= created(calls.createTable(untilMs)).finally(() => (creating = undefined));
    await withDeadline(creating, untilMs - performance.now());
    return request();
  };
  return {
    ...calls,
    get: (keys, select, untilMs) => send(untilMs, () => calls.get(keys, select, untilMs)),
    write: (write, untilMs) => send(untilMs, () => calls.write(write, untilMs)),
    delete: (keys, etag, untilMs) => send(untilMs, () => calls.delete(keys, etag, untilMs)),
    submit: (writes, untilMs) => send(untilMs, () => calls.submit(writes, untilMs)),
    listPage: (filter, count, from, untilMs) => send(untilMs, () => calls.listPage(filter, count, from, untilMs)),
  };
}

/** It is no error if another process has created the table meanwhile. */
async function created(creation: Promise<unknown>): Promise<void> {
  try {
    await creation;
  } catch (error) {
    if (!isTableThere(error)) throw error;
  }
}

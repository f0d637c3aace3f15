// Plays a client's actions one by one.
import type { Action } from './client-actions.ts';
import * as batches from './random-batches.ts';
import type { CalledTable, Caller } from './caller.ts';
import type { Client } from './history-client.ts';
import * as singles from './singles.ts';

export async function play(client: Client, actions: readonly Action[]): Promise<void> {
  const { process, scheduler } = client.options;
  for (const action of actions) {
    await scheduler.after(action.gapMs);
    const life = await process.awake();
    const table = await client.table(life);
    if (table !== undefined) await perform(client, action, life, table);
  }
}

async function perform(client: Client, action: Action, life: Caller, table: CalledTable): Promise<void> {
  switch (action.kind) {
    case 'get':
      return singles.get(client, action, life, table);
    case 'put':
    case 'putIfAbsent':
    case 'putIfVersion':
      return singles.put(client, action, life, table);
    case 'update':
      return singles.update(client, action, life, table);
    case 'updateNothing':
    case 'updateThrows':
      return singles.updateInVain(client, action, life, table);
    case 'delete':
    case 'deleteIfVersion':
      return singles.remove(client, action, life, table);
    case 'getMany':
      return batches.getMany(client, action, life, table);
    case 'putMany':
      return batches.putMany(client, action, life, table);
    case 'deleteMany':
      return batches.deleteMany(client, action, life, table);
    case 'scan':
      return batches.scan(client, action, life, table);
    case 'batch':
      return batches.batch(client, action, life, table);
    case 'clear':
      return batches.clear(client, action, life, table);
    case 'vacuum':
    case 'drop':
    case 'reopen':
    case 'tables':
    case 'verify':
    case 'repair':
      return batches.administer(client, action, life);
    default:
      action satisfies never;
  }
}

// `serverless logs`: the clouds' own commands that show a function's log, to be changed and reused.
import type { Context } from '../context/context.ts';
import { openStacks } from '../stack/stack.ts';
import { checkName } from './invoke.ts';

export async function logs(context: Context, name: string): Promise<void> {
  const { settings, log } = context;
  checkName(
    settings.functions.map((one) => one.name),
    name,
  );
  for (const { side, account } of await openStacks(context)) log(side.logsCommand(settings, account, name));
}

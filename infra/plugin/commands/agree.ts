// Asks before anything is deleted: data only with an option of its own, functions after a yes.
import { createInterface } from 'node:readline/promises';
import type { Loss } from '../clouds/cloud.ts';
import type { Context } from '../context/deploy-context.ts';
import { DeployError } from '../context/deploy-settings.ts';
import type { Stack } from '../stack/stack.ts';
import type { Planned } from '../stack/terraform.ts';

/** The data that a plan of this stack deletes. */
export function dataLosses({ side: { holdings } }: Stack, { losses }: Planned): Loss[] {
  return losses.filter(({ address }) => holdings.data.includes(address));
}

/** Throws a DeployError if the plan would delete data: the setting at fault, and what to do. */
export function refuseDataLoss(stack: Stack, planned: Planned): void {
  const losses = dataLosses(stack, planned);
  if (losses.length === 0) return;
  const { side } = stack;
  const advice = new Set(losses.map((loss) => side.holdings.advice(loss)));
  throw new DeployError(`${side.cloud}: this plan DELETES THE DATA, and is not applied.
${linesOf(stack, losses)}
Set it back. ${[...advice].join('\n')}
To give the data up: npx serverless deploy --delete-data`);
}

/** Asks before plans delete functions or data. Throws a DeployError if the answer is no. */
export async function agreeToLosses(
  context: Context,
  plans: readonly { readonly stack: Stack; readonly planned: Planned }[],
  isConfirmed: boolean,
): Promise<void> {
  const functions = plans.flatMap(({ stack, planned: { losses } }) => {
    const some = losses.filter(({ type }) => type === stack.side.holdings.functionType);
    return some.length === 0 ? [] : [linesOf(stack, some)];
  });
  const emptied = plans.flatMap(({ stack, planned }) => (dataLosses(stack, planned).length > 0 ? [stack] : []));
  if (functions.length > 0)
    context.log(`This takes functions away; callers are refused until they are back:\n${functions.join('\n')}`);
  for (const { side } of emptied) context.log(`This DELETES THE DATA on ${side.cloud}. It cannot be undone.`);
  if (functions.length + emptied.length > 0) await confirm(context, isConfirmed, emptied);
}

/** Asks for the stage's name, with places that lose data. Throws a DeployError without it. */
export async function confirm({ settings }: Context, isConfirmed: boolean, emptied: readonly Stack[]): Promise<void> {
  if (isConfirmed) return;
  const places = emptied.map(({ account }) => account.place);
  const name = [`${settings.service}-${settings.stage}`, ...places].join(' ');
  if (!process.stdin.isTTY)
    throw new DeployError(`Nothing was touched: nobody is there to type "${name}"; --yes agrees beforehand`);
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    const answer = await terminal.question(`Type ${name} to agree: `);
    if (answer.trim() !== name) throw new DeployError('nothing was touched');
  } finally {
    terminal.close();
  }
}

function linesOf({ side: { holdings } }: Stack, losses: readonly Loss[]): string {
  return losses.map((loss) => `  - ${loss.address} ${reasonsText(loss, holdings.settings)}`).join('\n');
}

function reasonsText({ isReplaced, reasons }: Loss, settings: Readonly<Record<string, string>>): string {
  const texts = reasons.map(({ attribute, before, after }) => {
    const setting = settings[attribute];
    return `${attribute} ${before} -> ${after}${setting === undefined ? '' : `, from ${setting}`}`;
  });
  return `would be ${isReplaced ? 'deleted and made again, empty' : 'deleted'}${texts.length === 0 ? '' : `: ${texts.join('; ')}`}`;
}

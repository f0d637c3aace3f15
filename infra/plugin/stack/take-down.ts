// Deletes a stage of one cloud with its data. The cloud's own tool lifts the data's protection,
// because Terraform would apply all other changes along with that.
import type { Context } from '../context/deploy-context.ts';
import { patiently } from './patience.ts';
import type { Stack } from './stack.ts';
import { TerraformError } from './terraform.ts';

/** Azure's lock stays in force for some minutes after it is deleted. */
const REPEAT_AFTER_MS = 60_000;

/** Throws a DeployError if something is left. */
export async function deleteAll(context: Context, { side, account, terraform }: Stack): Promise<void> {
  // Without the functions nothing has to be packaged.
  const variables = { ...side.variables(context.settings, account, []), functions: {}, allow_data_deletion: true };
  await side.unprotect(context.run, await terraform.resources());
  const destroy = (): Promise<void> => terraform.destroy(variables);
  await patiently(context, `${side.cloud}: something is left`, destroy, {
    pauseMs: REPEAT_AFTER_MS,
    isPassing: (error) => error instanceof TerraformError && side.isPassing(error.said),
  });
}

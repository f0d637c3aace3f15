// The command line of `npm run model`: the plan, and the parameters that are not at their middle.
import { type Provider, PROVIDERS } from '../../../shared/lab/kit/dimensions.ts';
import { type Level, ProviderParameters } from '../../../shared/lab/cloud/data/parameters.ts';
import { BANDS_PLAN } from '../../../shared/lab/plan/modelled/plan-bands.ts';
import { DEFAULT_PLAN } from '../../../shared/lab/plan/modelled/plan-default.ts';
import { GUARD_PLAN } from '../../../shared/lab/plan/modelled/plan-guard.ts';
import { GOALS_PLAN } from '../../../shared/lab/plan/modelled/plan-goals.ts';
import { drawnPlan, ROWS_PLAN } from '../../../shared/lab/plan/modelled/plan-rows.ts';
import { type ModelPlan, planOf, planSchema } from '../../../shared/lab/plan/modelled/plan.ts';
import { PROVIDER_DATA } from '../../../shared/lab/cloud/run/providers.ts';
import { UsageError } from '../../cli/options.ts';
import { readText } from '../../cli/text.ts';

const BUILT_IN = { default: DEFAULT_PLAN, goals: GOALS_PLAN, guard: GUARD_PLAN, bands: BANDS_PLAN, rows: ROWS_PLAN };

/** The built-in plan of this name, or that in this file. `seed` draws one. Throws a UsageError. */
export async function readPlan(name: string, seed: number): Promise<ModelPlan> {
  if (name === 'drawn') return planSchema.parse(drawnPlan(seed));
  const builtIn = Object.entries(BUILT_IN).find(([known]) => known === name);
  if (builtIn !== undefined) return planSchema.parse(builtIn[1]);
  const text = await readText(name).catch((error: Error) => {
    const known = [...Object.keys(BUILT_IN), 'drawn'].join(', ');
    throw new UsageError(`--plan is one of ${known}, or a file that can be read: ${error.message}`);
  });
  try {
    return planOf(text);
  } catch (error) {
    throw new UsageError(`${name} is no plan: ${(error as Error).message}`);
  }
}

export type Settings = Readonly<Record<Provider, Readonly<Record<string, number | Level>>>>;

/**
 * Reads `NAME=VALUE,...`; `datastore:` or `azure-tables:` before a name means one provider. A value
 * is a number, `low`, `middle` or `high`. Throws a UsageError.
 */
export function settingsOf(text: string | undefined): Settings {
  const settings: Record<Provider, Record<string, number | Level>> = { datastore: {}, 'azure-tables': {} };
  for (const assignment of (text ?? '').split(',').filter((one) => one !== '')) {
    const match = /^(?:(datastore|azure-tables):)?([^=:]+)=(.+)$/.exec(assignment);
    if (match === null) throw new UsageError(`--set takes NAME=VALUE, not ${JSON.stringify(assignment)}`);
    const [, provider, name = '', value = ''] = match;
    for (const one of PROVIDERS)
      if (provider === undefined || provider === one) settings[one][name] = valueOf(name, value);
  }
  for (const provider of PROVIDERS) checkSettings(provider, settings[provider]);
  return settings;
}

function valueOf(name: string, text: string): number | Level {
  if (text === 'low' || text === 'middle' || text === 'high') return text;
  const value = text.trim() === '' ? NaN : Number(text);
  if (Number.isFinite(value) && value >= 0) return value;
  throw new UsageError(`--set ${name} takes a number from 0 up, or low, middle or high, not ${JSON.stringify(text)}`);
}

function checkSettings(provider: Provider, settings: Readonly<Record<string, number | Level>>): void {
  try {
    void new ProviderParameters(PROVIDER_DATA[provider], settings);
  } catch (error) {
    throw new UsageError(`--set: ${(error as Error).message}`);
  }
}

// Reduces what the real Terraform said with the real providers to what the plugin reads of it.
// Into FOLDER goes `terraform show -json` of a deployed stage, as state.json, and of each plan for
// it, as NAME.json. Then: node tests/infra/plugin/recorded/reduce.ts FOLDER >CLOUD.json
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

type Values = Readonly<Record<string, unknown>>;

interface Resource {
  readonly address: string;
  readonly type: string;
  readonly values: Values;
  readonly action_reason?: string;
  readonly change: {
    readonly actions: readonly string[];
    readonly before: Values | null;
    readonly after: Values | null;
    readonly replace_paths?: readonly (readonly string[])[];
  };
}

interface Shown {
  readonly values?: { readonly root_module: { readonly resources: readonly Resource[] } };
  readonly resource_changes?: readonly Resource[];
}

/** What serves and what protects, if it goes. */
const TYPES = /^(google_cloudfunctions2_function|azurerm_(function_app_flex_consumption|management_lock))$/;
/** What holds data, also if it stays. */
const DATA = /^(google_firestore_database\.store|azurerm_(resource_group|storage_account)\.data)$/;
/** By these a resource says where it is, and whose. */
const ORIGIN = ['id', 'name', 'project'];

const [folder = '.'] = process.argv.slice(2);
const names = readdirSync(folder).map((file) => file.replace(/\.json$/, ''));
const plans = names
  .filter((name) => name !== 'state')
  .sort()
  .map((name) => {
    const kept = (shown(name).resource_changes ?? []).filter(
      ({ address, type, change }) => DATA.test(address) || (TYPES.test(type) && change.actions.includes('delete')),
    );
    return `    "${name}": { "resource_changes": [${lines(kept.map(reduced))}] }`;
  });
const resources = shown('state')
  .values!.root_module.resources.filter(({ address, type }) => DATA.test(address) || TYPES.test(type))
  .map(({ type, values }) => ({ type, values: picked(values, ORIGIN) }));
process.stdout.write(`{
  "state": { "values": { "root_module": { "resources": [${lines(resources)}] } } },
  "plans": {\n${plans.join(',\n')}\n  }
}
`);

function shown(name: string): Shown {
  return JSON.parse(readFileSync(path.join(folder, `${name}.json`), 'utf8')) as Shown;
}

/** Of the values those that cannot change in place. */
function reduced({ address, type, action_reason, change }: Resource): object {
  const { actions, before, after, replace_paths = [] } = change;
  const changed = replace_paths.map(([name]) => name!);
  const values = { before: before && picked(before, changed), after: after && picked(after, changed) };
  return { address, type, action_reason, change: { actions, ...values, replace_paths } };
}

function picked(values: Values, names: readonly string[]): Values {
  return Object.fromEntries(names.filter((name) => name in values).map((name) => [name, values[name]]));
}

/** One a line, for a diff that can be read. */
function lines(all: readonly object[]): string {
  return all.length === 0 ? '' : `\n      ${all.map((one) => JSON.stringify(one)).join(',\n      ')}\n    `;
}

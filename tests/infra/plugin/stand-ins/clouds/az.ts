// az, on the Azure in memory: the commands that the plugin gives, and their answers.
import type { Ended } from '../../../../../infra/plugin/context/tools.ts';
import { SUBSCRIPTION } from '../tools.ts';
import type { Arm } from './arm.ts';

type Command = (arm: Arm, args: readonly string[]) => string;

/** Thrown by a command that fails; the message is what az prints. */
class AzError extends Error {}

const COMMANDS: Readonly<Record<string, Command>> = {
  'account show': () => `${SUBSCRIPTION}\tsomebody@example.com`,
  'account get-access-token': ({ caller }, args) =>
    /accessToken/.test(option(args, '--query')) ? tokenOf(caller) : '2026-11-21 13:00:00',
  'provider list': ({ registered }) => [...registered].join('\n'),
  'provider register': ({ registered }, args) => {
    registered.add(option(args, '--namespace'));
    return '';
  },
  'functionapp list-flexconsumption-locations': () => 'eastus\nwesteurope',
  'functionapp keys list': () => 'an-azure-function-key',
  'functionapp config appsettings list': (arm, args) =>
    [...arm.sites.settings(appOf(arm, args)).keys()]
      .filter((name) => option(args, '--query').includes(`'${name}'`))
      .join('\n'),
  'functionapp config appsettings delete': (arm, args) => {
    arm.sites.deleteSettings(appOf(arm, args), optionsOf(args, '--setting-names'));
    return '[]';
  },
  'functionapp deployment source config-zip': (arm, args) => {
    arm.sites.upload(appOf(arm, args), option(args, '--src'));
    return '{}';
  },
  'keyvault secret show': (arm, args) => {
    const secret = arm.secretOf(option(args, '--vault-name'), option(args, '--name'));
    if (secret === undefined) throw new AzError('(SecretNotFound) it was not found in this key vault');
    if (!arm.mayInVault('Get', secret.vaultId, arm.caller))
      throw new AzError(`(Forbidden) The user '${arm.caller}' does not have secrets get permission on key vault`);
    return arm.secretText(secret.id);
  },
  'tag list': (arm, args) => arm.tagsOf(option(args, '--resource-id'))['package'] ?? '',
  'tag update': (arm, args) => {
    const [name, value] = option(args, '--tags').split('=');
    arm.tagsOf(option(args, '--resource-id'))[name!] = value!;
    return '';
  },
  'lock delete': (arm, args) => {
    const id = option(args, '--ids');
    if (!arm.resources.delete(id)) throw new AzError(`(LockNotFound) there is no lock ${id}`);
    return '';
  },
  rest: (arm, args) => {
    const [, app, refresh] =
      /^(\/subscriptions\/.*\/sites\/[^/]+)\/config\/configreferences\/appsettings(\/refresh)?\?api-version=[\d-]+$/.exec(
        option(args, '--url'),
      )!;
    const id = arm.sites.idOf(app!.split('/').at(-1)!);
    if (id === undefined) throw new AzError('Not Found({"Code":"NotFound"})');
    if (option(args, '--method') === 'post') {
      if (refresh === undefined) throw new AzError('Method Not Allowed');
      arm.sites.refresh(id);
      return '{}';
    }
    const value = arm.sites.references(id).map(({ setting, ...properties }) => ({ name: setting, properties }));
    return JSON.stringify({ value });
  },
};

/** Runs one call of az. */
export function az(arm: Arm, args: readonly string[]): Ended {
  const call = args.join(' ');
  const found = Object.entries(COMMANDS).find(([begin]) => call.startsWith(begin));
  if (found === undefined) return { code: 2, stdout: '', stderr: `ERROR: '${call}' is misspelled or not recognized` };
  try {
    return { code: 0, stdout: `${found[1](arm, args)}\n`, stderr: '' };
  } catch (error) {
    if (!(error instanceof AzError)) throw error;
    return { code: 1, stdout: '', stderr: `ERROR: ${error.message}` };
  }
}

function appOf(arm: Arm, args: readonly string[]): string {
  const id = arm.sites.idOf(option(args, '--name'));
  if (id === undefined) throw new AzError(`(ResourceNotFound) ${option(args, '--name')} was not found`);
  return id;
}

function option(args: readonly string[], name: string): string {
  return optionsOf(args, name)[0] ?? '';
}

function optionsOf(args: readonly string[], name: string): string[] {
  const after = args.slice(args.indexOf(name) + 1);
  const end = after.findIndex((one) => one.startsWith('--'));
  return args.includes(name) ? after.slice(0, end === -1 ? undefined : end) : [];
}

/** The claims are all that is read of a token; nobody checks the signature of this one. */
function tokenOf(objectId: string): string {
  return `none.${Buffer.from(JSON.stringify({ oid: objectId })).toString('base64url')}.none`;
}

// Function apps of the Azure in memory: references to secrets, uploads, answers, and settings as
// azurerm sends and hides them (its function_app_flex_consumption_resource.go).
import { textOf, type Value, type Values } from '../terraform-provider.ts';
import { kept } from './kept.ts';
import { answerOf, type Answered, type Asked } from './records.ts';

/** The parts of Azure on which apps depend. */
export interface Surroundings {
  idsOf(type: string): string[];
  secretOf(vault: string, name: string): { readonly id: string; readonly vaultId: string } | undefined;
  secretText(secret: string): string;
  mayInVault(permission: string, vaultId: string, principal: string): boolean;
  hasRole(principal: string, role: string, scope: string): boolean;
  recordsOf(account: string): Map<string, string>;
}

interface Reference {
  readonly setting: string;
  readonly reference: string;
  readonly vaultName: string;
  readonly secretName: string;
  readonly status: 'Resolved' | 'AccessToKeyVaultDenied' | 'SecretNotFound';
}

interface Site {
  readonly name: string;
  readonly principal: string;
  readonly hostAccount: string;
  settings: Map<string, string>;
  references: Reference[];
  package: string | undefined;
}

const HIDDEN = ['AzureWebJobsStorage', 'DEPLOYMENT_STORAGE_CONNECTION_STRING'];
const SECRET_URI = /^@Microsoft\.KeyVault\(SecretUri=(https:\/\/([^.]+)\.vault\.azure\.net\/secrets\/([^/]+)\/.*)\)$/;

export class Sites {
  readonly #arm: Surroundings;
  /** False: no vault lets any app in, whatever its policies say. */
  isAnswering = true;
  readonly #sites = new Map<string, Site>();

  constructor(arm: Surroundings) {
    this.#arm = arm;
  }

  /** Gives what puts everything back as it is now. */
  keep(): () => void {
    const { isAnswering } = this;
    const sites = kept(this.#sites);
    return () => {
      sites();
      this.isAnswering = isAnswering;
    };
  }

  put(id: string, isNew: boolean, values: Readonly<Values>): void {
    const name = textOf(values, 'name');
    const account = /^https:\/\/([^.]+)/.exec(textOf(values, 'storage_container_endpoint'))![1]!;
    const sent = new Map(Object.entries(values['app_settings'] as Record<string, string>));
    sent.set('AzureWebJobsStorage', `DefaultEndpointsProtocol=https;AccountName=${account};AccountKey=`);
    if (!isNew) sent.set('DEPLOYMENT_STORAGE_CONNECTION_STRING', sent.get('AzureWebJobsStorage')!);
    this.#sites.set(id, {
      name,
      principal: textOf((values['identity'] as Values[])[0]!, 'principal_id'),
      hostAccount: account,
      settings: sent,
      references: [],
      package: isNew ? undefined : this.#sites.get(id)?.package,
    });
    this.refresh(id);
  }

  /**
   * The platform asks the vaults when a setting changes or when it is told to, and keeps the
   * answers, refusals too.
   */
  refresh(id: string): void {
    const site = this.#sites.get(id)!;
    site.references = [...site.settings].flatMap(([setting, value]) => {
      const [, uri, vaultName, secretName] = SECRET_URI.exec(value) ?? [];
      if (uri === undefined) return [];
      const secret = this.#arm.secretOf(vaultName!, secretName!);
      const isAllowed =
        secret !== undefined && this.isAnswering && this.#arm.mayInVault('Get', secret.vaultId, site.principal);
      const status = secret === undefined ? 'SecretNotFound' : isAllowed ? 'Resolved' : 'AccessToKeyVaultDenied';
      return [{ setting, reference: value, vaultName: vaultName!, secretName: secretName!, status }];
    });
  }

  references(id: string): readonly Reference[] {
    return this.#sites.get(id)!.references;
  }

  settings(id: string): ReadonlyMap<string, string> {
    return this.#sites.get(id)!.settings;
  }

  settingsShown(id: string): { [name: string]: Value } {
    return Object.fromEntries([...this.settings(id)].filter(([name]) => !HIDDEN.includes(name)));
  }

  deleteSettings(id: string, names: readonly string[]): void {
    for (const name of names) this.#sites.get(id)!.settings.delete(name);
    this.refresh(id);
  }

  upload(id: string, file: string): void {
    this.#sites.get(id)!.package = file;
  }

  /** By name, as az and callers know them. */
  idOf(name: string): string | undefined {
    return this.#arm.idsOf('azurerm_function_app_flex_consumption').find((id) => this.#sites.get(id)?.name === name);
  }

  answer(host: string, asked: Asked): Answered {
    const id = this.idOf(host.replace('.azurewebsites.net', ''));
    if (id === undefined) return { status: 404, body: 'no such app' };
    const site = this.#sites.get(id)!;
    if (asked.headers['x-functions-key'] !== 'an-azure-function-key') return { status: 401, body: '' };
    const data = this.#dataOf(site);
    const broken = this.#whyBroken(site, data);
    if (broken !== undefined) return { status: 503, body: broken };
    return answerOf(asked, this.#appKeysOf(site), this.#arm.recordsOf(data!));
  }

  #dataOf({ settings }: Site): string | undefined {
    return this.#accountOf(/^https:\/\/([^.]+)/.exec(settings.get('STOWAGE_TABLES_ENDPOINT')!)![1]!);
  }

  #accountOf(name: string): string | undefined {
    return this.#arm.idsOf('azurerm_storage_account').find((id) => id.endsWith(`/${name}`));
  }

  #whyBroken(site: Site, data: string | undefined): string | undefined {
    const { name, principal, hostAccount, settings, references, package: file } = site;
    const host = this.#accountOf(hostAccount)!;
    if (HIDDEN.some((setting) => settings.has(setting))) return `${name}: the host cannot read its storage: empty key`;
    if (!this.#arm.hasRole(principal, 'Storage Blob Data Owner', host))
      return `${name}: the host may not read its storage`;
    if (file === undefined) return `${name}: no functions found`;
    const unresolved = references.find(({ status }) => status !== 'Resolved');
    if (unresolved !== undefined) return `${name}: ${unresolved.setting} is no key`;
    if (data === undefined || !this.#arm.hasRole(principal, 'Storage Table Data Contributor', data))
      return `${name}: the tables are not to be reached`;
    return undefined;
  }

  #appKeysOf({ references }: Site): string[] {
    const ids = references.map(({ reference }) => SECRET_URI.exec(reference)![1]!);
    return ids.flatMap((id) => this.#arm.secretText(id).split(','));
  }
}

// Google Cloud in memory, as far as deployments here depend on it: builds that fail under young
// roles, a protected database, secrets' versions, checks that policies name.
import type { Clock } from '../../../../../infra/plugin/context/context.ts';
import { type Cloud, Refusal, textOf, type Value, type Values } from '../terraform-provider.ts';
import type { ProviderSchema } from '../../schemas/schema.ts';
import { kept } from './kept.ts';
import { answerOf, type Answered, type Asked } from './records.ts';
import { type Resource, Resources } from './resources.ts';

const PROJECT = 'some-project';
/**
 * Google: a change of roles takes about two minutes to take effect, and may take seven or more;
 * this cloud is a quick one.
 */
const ROLES_TAKE_MS = 60_000;
const DATABASE = 'google_firestore_database';
const FUNCTION = 'google_cloudfunctions2_function';
const VERSION = 'google_secret_manager_secret_version';
const CHECK = 'google_monitoring_uptime_check_config';

interface Aged extends Resource {
  readonly madeAtMs: number;
}

export class Google extends Resources<Aged> implements Cloud {
  readonly enabled = new Set(['cloudresourcemanager.googleapis.com', 'serviceusage.googleapis.com']);
  readonly #clock: Clock;
  readonly #secrets = new Map<string, string>();
  readonly #built = new Set<string>();
  /** The address of whoever is logged in. */
  caller = 'somebody@example.com';

  constructor(schema: ProviderSchema, clock: Clock) {
    super(schema);
    this.#clock = clock;
  }

  /** Gives what puts everything back as it is now. */
  keep(): () => void {
    const { caller } = this;
    const maps = kept(this.resources, this.enabled, this.records, this.#secrets, this.#built);
    return () => {
      maps();
      this.caller = caller;
    };
  }

  readonly computed = (type: string, attribute: string, values: Readonly<Values>): Value => {
    const text = (name: string): string => textOf(values, name);
    const email = `${text('account_id')}@${PROJECT}.iam.gserviceaccount.com`;
    const answers: Readonly<Record<string, string>> = {
      id: idOf(type, values),
      email,
      member: `serviceAccount:${email}`,
      uptime_check_id: `${text('display_name')}-${this.resources.size}`,
      uri: `https://${text('name')}.a.run.app`,
      number: '123456789',
    };
    if (type === VERSION && attribute === 'version')
      return String([...this.#secrets.keys()].filter((id) => id.startsWith(`${text('secret')}/`)).length + 1);
    return answers[attribute];
  };

  configure(): void {}

  put(type: string, before: Readonly<Values> | null, after: Readonly<Values>, config: Readonly<Values>): void {
    const id =
      type === VERSION ? `${textOf(after, 'secret')}/versions/${textOf(after, 'version')}` : textOf(after, 'id');
    if (before === null && this.resources.has(id)) throw new Refusal(`Error 409: ${id} already exists`);
    if (type === VERSION) this.#secrets.set(id, textOf(config, 'secret_data_wo'));
    const madeAtMs = this.resources.get(id)?.madeAtMs ?? this.#clock.nowMs();
    this.resources.set(id, { type, values: { ...after }, madeAtMs });
    if (type === FUNCTION) this.#build(id, after);
  }

  remove(type: string, values: Readonly<Values>): void {
    // A disabled version stays, and its number is not given again.
    if (type === VERSION) return;
    const id = textOf(values, 'id');
    const found = this.resources.get(id);
    if (type === DATABASE && found?.values['delete_protection_state'] !== 'DELETE_PROTECTION_DISABLED')
      throw new Refusal(`Cannot delete Firestore database ${textOf(values, 'name')}: Delete Protection is enabled`);
    if (type === CHECK && this.#isNamed(textOf(values, 'uptime_check_id')))
      throw new Refusal(`Error 400: Cannot delete check ${id}. One or more alerting policies is using it.`);
    this.resources.delete(id);
    this.records.delete(id);
    this.#built.delete(id);
  }

  read(type: string, values: Readonly<Values>): Values | null {
    if (type === VERSION) return values;
    return this.resources.get(textOf(values, 'id'))?.values ?? null;
  }

  secret(name: string, version: string): string | undefined {
    return [...this.#secrets].find(([id]) => id.endsWith(`/${name}/versions/${version}`))?.[1];
  }

  unprotect(database: string): boolean {
    const id = this.idsOf(DATABASE).find((one) => one.endsWith(`/${database}`));
    if (id === undefined) return false;
    const found = this.resources.get(id)!;
    const values = { ...found.values, delete_protection_state: 'DELETE_PROTECTION_DISABLED' };
    this.resources.set(id, { ...found, values });
    return true;
  }

  /** The addresses that may call a function. */
  invokersOf(name: string): string[] {
    return this.ofType('google_cloud_run_service_iam_member')
      .filter(({ values }) => values['service'] === name)
      .map(({ values }) => textOf(values, 'member'));
  }

  answer(host: string, asked: Asked): Answered {
    const name = host.replace('.a.run.app', '');
    const id = this.idsOf(FUNCTION).find((one) => one.endsWith(`/${name}`));
    if (id === undefined) return { status: 404, body: 'no such service' };
    const caller = (asked.headers['x-serverless-authorization'] ?? '').replace('Bearer token-of-', '');
    if (!this.invokersOf(name).includes(`user:${caller}`)) return { status: 403, body: '' };
    if (!this.#built.has(id)) return { status: 503, body: 'the function was not built' };
    const { environment_variables: env, secret_environment_variables: secrets } = (
      this.resources.get(id)!.values['service_config'] as Values[]
    )[0] as { environment_variables: Record<string, string>; secret_environment_variables: Record<string, string>[] };
    const keys = secrets.flatMap(({ secret, version }) => (this.secret(secret!, version!) ?? '').split(','));
    const database = this.idsOf(DATABASE).find((one) => one.endsWith(`/${env['STOWAGE_DATABASE_ID']}`));
    if (database === undefined) return { status: 500, body: 'no such database' };
    return answerOf(asked, keys, this.recordsOf(database));
  }

  #build(id: string, values: Readonly<Values>): void {
    const account = textOf((values['build_config'] as Values[])[0]!, 'service_account');
    const email = account.split('/').at(-1)!;
    const young = [...this.resources.values()].filter(
      ({ type, values: { member }, madeAtMs }) =>
        type.endsWith('_iam_member') &&
        member === `serviceAccount:${email}` &&
        this.#clock.nowMs() - madeAtMs < ROLES_TAKE_MS,
    );
    if (young.length > 0)
      throw new Refusal(
        `Error waiting to create function: Build failed with status: FAILURE. Could not build the function due to a missing permission on the build service account ${email}`,
        { isMade: true },
      );
    this.#built.add(id);
  }

  #isNamed(check: string): boolean {
    return this.ofType('google_monitoring_alert_policy').some(({ values }) => JSON.stringify(values).includes(check));
  }
}

/** Names that a request path would have; a type's own, where two could meet. */
function idOf(type: string, values: Readonly<Values>): string {
  const text = (name: string): string => textOf(values, name);
  if (type === 'google_service_account')
    return `projects/${PROJECT}/serviceAccounts/${text('account_id')}@${PROJECT}.iam.gserviceaccount.com`;
  if (type === 'google_secret_manager_secret') return `projects/${PROJECT}/secrets/${text('secret_id')}`;
  if (type.endsWith('_iam_member')) {
    const on = ['project', 'repository', 'secret_id', 'service', 'bucket'].map(text).join('/');
    return `${type}/${on}/${text('role')}/${text('member')}`;
  }
  const name = ['name', 'repository_id', 'service', 'display_name'].map(text).find((one) => one !== '')!;
  return `projects/${PROJECT}/${type}/${text('location')}/${text('bucket')}/${name}`;
}

// The Serverless Framework's plugin: the provider `stowage`, for both clouds, and its commands.
import path from 'node:path';
import { PLANS } from '../../shared/lab/plan/plan.ts';
import { compareDeployed, linkToDeployed } from '../cli/compare-deployed.ts';
import { EndpointError } from '../cli/endpoints.ts';
import { EXIT } from '../cli/exit.ts';
import { interrupted } from '../cli/interrupt.ts';
import { sourceFacts } from '../cli/comparison.ts';
import { printableLines, sayLines } from '../cli/print.ts';
import { packageFunctions, sizesText } from '../package/package.ts';
import { deploy } from './commands/deploy.ts';
import { endpointsFile, findEndpoints, info } from './commands/info.ts';
import { changeKeys, keyOwner } from './commands/keys.ts';
import { remove, type RemoveOptions } from './commands/remove.ts';
import { askWith, CLOCK, type Context, Interrupted, isInterruption, run } from './context/deploy-context.ts';
import {
  checkHandlers,
  DeployError,
  type FunctionSettings,
  HTTP_EVENT_SCHEMA,
  PROVIDER_SCHEMA,
  type ProviderSettings,
  SCHEDULE_EVENT_SCHEMA,
  type Settings,
  settingsOf,
} from './context/deploy-settings.ts';

/** The part of the framework that this plugin touches. */
interface Serverless {
  readonly serviceDir: string;
  readonly service: {
    readonly service: string;
    readonly provider: ProviderSettings;
    readonly functions: Record<string, FunctionSettings & { package?: { disable: boolean } }>;
    readonly package: { readonly path?: string };
  };
  readonly processedInput: { readonly commands: readonly string[] };
  readonly classes: { readonly Error: new (message: string, code: string) => Error };
  /** serverless.yml, resolved. */
  readonly configurationInput: { readonly params?: Readonly<Record<string, object>> };
  readonly configSchemaHandler: {
    defineProvider(name: string, schema: object): void;
    defineFunctionEvent(provider: string, name: string, schema: object): void;
  };
  setProvider(name: string, provider: object): void;
}

interface Options {
  readonly package?: string;
  readonly plan?: boolean;
  readonly yes?: boolean;
  readonly 'delete-data'?: boolean;
  readonly add?: boolean;
  readonly retire?: boolean;
  readonly full?: boolean;
  readonly open?: boolean;
  readonly for?: string;
  readonly role?: string;
  /** Values of `--param`, as `name=value`. */
  readonly param?: readonly string[];
}

const PROVIDER = 'stowage';
const flag = (usage: string) => ({ usage, type: 'boolean' });

export default class StowagePlugin {
  readonly commands = {
    deploy: {
      options: {
        plan: flag('Shows what would change, and touches nothing'),
        'delete-data': flag('Gives the data up, where a changed setting asks for it; it cannot be undone'),
        yes: flag('Agrees beforehand that functions are taken away'),
      },
    },
    remove: {
      options: {
        'delete-data': flag('Deletes the data too; it cannot be undone'),
        yes: flag('Agrees beforehand'),
      },
    },
    compare: {
      usage: 'Runs the comparison across the deployed clouds',
      lifecycleEvents: ['compare'],
      options: {
        full: flag('The plan full: every workload, up to 128 callers, two hours or more'),
        open: flag('Prints a link to the live page instead, filled in; it holds your keys'),
      },
    },
    keys: {
      usage: 'Shows how many app keys are valid, or changes them',
      lifecycleEvents: ['keys'],
      options: {
        add: flag('Adds a new key to each role'),
        retire: flag('Takes the older keys away'),
        for: { usage: 'Only of this caller: NAME, or NAME(tables=orders-*;until=2027-01-31)', type: 'string' },
        role: { usage: 'The role of the caller’s key', type: 'string' },
      },
    },
  };

  readonly hooks: Readonly<Record<string, () => Promise<void>>>;
  readonly #serverless: Serverless;
  readonly #options: Options;
  /** A deployment makes its packages, unless --package brings them. */
  #isToPack = false;

  constructor(serverless: Serverless, options: Options) {
    this.#serverless = serverless;
    this.#options = options;
    serverless.setProvider(PROVIDER, this);
    serverless.configSchemaHandler.defineProvider(PROVIDER, PROVIDER_SCHEMA);
    serverless.configSchemaHandler.defineFunctionEvent(PROVIDER, 'http', HTTP_EVENT_SCHEMA);
    serverless.configSchemaHandler.defineFunctionEvent(PROVIDER, 'schedule', SCHEDULE_EVENT_SCHEMA);
    this.#checkParams();
    this.hooks = {
      'before:package:createDeploymentArtifacts': () => this.#with((context) => this.#claimPackaging(context)),
      'deploy:deploy': () =>
        this.#with((context) =>
          deploy(context, {
            pack: async () => {
              if (this.#isToPack) await this.#pack(context);
            },
            isPlanOnly: options.plan === true,
            ...this.#consent(),
          }),
        ),
      'info:info': () => this.#with(info),
      'remove:remove': () => this.#with((context) => remove(context, this.#consent())),
      'keys:keys': () =>
        this.#with((context) =>
          changeKeys(context, {
            step: this.#step(),
            ...(options.for === undefined ? {} : { owner: keyOwner(options.for, options.role) }),
          }),
        ),
      'compare:compare': () => this.#with((context) => this.#compare(context)),
    };
  }

  /** The framework takes every --param; one that no stage declares is read by nothing. */
  #checkParams(): void {
    const { params = {} } = this.#serverless.configurationInput;
    const known = [...new Set(Object.values(params).flatMap((ofStage) => Object.keys(ofStage)))];
    const unknown = this.#options.param?.find((param) => !known.includes(param.split('=')[0]!));
    if (unknown === undefined) return;
    const message = `--param ${unknown}: there is no such parameter; there are ${known.join(', ')}`;
    throw new this.#serverless.classes.Error(message, 'STOWAGE_PARAM');
  }

  /** Packages itself: the framework would zip the whole folder before prerequisites are checked. */
  async #claimPackaging(context: Context): Promise<void> {
    checkHandlers(context.settings);
    for (const one of Object.values(this.#serverless.service.functions)) one.package = { disable: true };
    if (this.#serverless.processedInput.commands[0] === 'deploy') this.#isToPack = true;
    else await this.#pack(context);
  }

  async #pack({ settings, log }: Context): Promise<void> {
    // All that are declared, also one that is not deployed because it has no schedule.
    const sources = Object.entries(this.#serverless.service.functions).map(([name, one]) => ({ ...one, name }));
    log(sizesText(await packageFunctions(settings.outDir, sources, settings.clouds)));
  }

  async #compare(context: Context): Promise<void> {
    const { run, log } = context;
    const clouds = context.settings.peers.filter((peer) => context.settings.clouds.includes(peer));
    const settings = { ...context.settings, clouds };
    await findEndpoints({ ...context, settings });
    const deployed = { endpointsFile: endpointsFile(settings), clouds, ask: askWith(run) };
    if (this.#options.open === true) return log(await linkToDeployed(deployed));
    const name = this.#options.full === true ? 'full' : 'default';
    const command = `npx serverless compare${name === 'full' ? ' --full' : ''}`;
    const code = await compareDeployed({
      ...deployed,
      plan: PLANS[name],
      baseline: { report: undefined, conditions: [] },
      outDir: path.join(this.#serverless.serviceDir, 'report'),
      circumstances: { command, ...(await sourceFacts(import.meta.url)) },
      log,
      signal: interrupted(log),
    });
    if (code === EXIT.interrupted) throw new Interrupted('interrupted; the report has what was measured');
    if (code !== EXIT.ok) throw new DeployError('not all cells succeeded; the report says which');
  }

  #consent(): RemoveOptions {
    return { isDataDeleted: this.#options['delete-data'] === true, isConfirmed: this.#options.yes === true };
  }

  #step(): 'show' | 'add' | 'retire' {
    if (this.#options.add === true && this.#options.retire === true)
      throw new DeployError('--add and --retire are two steps: callers change their keys between them');
    return this.#options.add === true ? 'add' : this.#options.retire === true ? 'retire' : 'show';
  }

  /** Runs a command. An error that the user can mend is shown without a stack trace. */
  async #with(command: (context: Context) => Promise<void>): Promise<void> {
    try {
      await command({ settings: this.#settings(), run, clock: CLOCK, log: sayLines });
    } catch (error) {
      if (isInterruption(error)) endInterrupted(error as Error);
      if (!(error instanceof DeployError || error instanceof EndpointError)) throw error;
      throw new this.#serverless.classes.Error(printableLines(error.message), 'STOWAGE_DEPLOY');
    }
  }

  #settings(): Settings {
    const { serviceDir, service } = this.#serverless;
    const outDir = path.resolve(serviceDir, this.#options.package ?? service.package.path ?? '.serverless');
    return settingsOf(service.service, service.provider, service.functions, outDir);
  }
}

/** Exits itself, because the framework would show the error as a bug, with its stack. */
function endInterrupted({ message }: Error): never {
  console.error(`\n${message}`);
  process.exit(EXIT.interrupted);
}

// `npm run calibrate`: measures what the model of the clouds is made of.
import { fileURLToPath } from 'node:url';
import type { Provider } from '../../../shared/lab/kit/dimensions.ts';
import { untilInterrupted } from '../../cli/interrupt.ts';
import { machine, versions } from '../../cli/machine.ts';
import { choice, command, runCommand, UsageError } from '../../cli/options.ts';

const CALIBRATE = command({
  name: 'npm run calibrate --',
  operands: ['what'],
  about: `Measures numbers of the model of the clouds. processor: what a client spends of its own processor, on emulators, in 10 minutes and more.
datastore, azure-tables: how long 100 requests of each kind take on a real account, one after another, in 10 minutes at most: it says first
what they cost, and removes what it made. The Azure account is that of AZURE_STORAGE_CONNECTION_STRING.`,
  options: {
    quick: { help: 'processor: shorter turns' },
    project: { value: 'ID', help: 'datastore: the project, by application default credentials' },
    region: { value: 'NAME', default: 'a region not told', help: 'where account and machine are, for the source' },
  },
  examples: [
    'npm run calibrate -- processor --quick',
    'npm run calibrate -- datastore --project my-project --region europe-west1',
  ],
});

/** Requests of each kind. */
const TIMES = 100;
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const SIZE = {
  records: 10_000,
  callers: [1, 8, 32, 256],
  containerBytes: [64 * 1_024, 256 * 1_024, undefined],
  rounds: 7,
};
/** Processor time of one turn. */
const PROCESSOR_MS = 60;
const QUICK_PROCESSOR_MS = 20;

await runCommand(CALIBRATE, process.argv.slice(2), ({ values: { quick, project, region }, operands: [given = ''] }) => {
  const what = choice('what', given, ['processor', 'datastore', 'azure-tables'] as const);
  return untilInterrupted((signal) => {
    if (what === 'processor') return measureProcessor(quick ? QUICK_PROCESSOR_MS : PROCESSOR_MS, signal);
    return printRequests(what, { project, region }, signal);
  });
});

async function printRequests(
  provider: Provider,
  { project, region }: { readonly project: string | undefined; readonly region: string },
  signal: AbortSignal,
): Promise<void> {
  const { azureAccount, datastoreAccount } = await import('./requests/account.ts');
  const { measureRequests, rowsOf, textOf } = await import('./requests/measure.ts');
  const { DATASTORE_EMULATOR_HOST: emulator, AZURE_STORAGE_CONNECTION_STRING: connection } = process.env;
  const account =
    provider === 'datastore'
      ? datastoreAccount(needed('--project', project), emulator)
      : azureAccount(needed('AZURE_STORAGE_CONNECTION_STRING', connection));
  const samples = await measureRequests(account, { times: TIMES, signal, log: console.error });
  console.log(samples.map(textOf).join('\n'));
  const { isEmulator } = account;
  const where = `npm run calibrate, ${today()}, ${region}`;
  console.log(
    `isEmulator: ${isEmulator}\n${isEmulator ? 'An emulator has no rows for the table.' : rowsOf(provider, samples, where)}`,
  );
}

function needed(name: string, value: string | undefined): string {
  if (value === undefined || value === '') throw new UsageError(`${name} is needed`);
  return value;
}

function today(): string {
  return new Date().toISOString().slice(0, 10);
}

/**
 * The benchmark's emulators tell Google's library to look for no credentials, so they are loaded
 * for this alone.
 */
async function measureProcessor(processorMs: number, signal: AbortSignal): Promise<void> {
  const { providerOn, startAzure } = await import('../providers.ts');
  const { startEmbeddedDatastore } = await import('../../emulators/embedded.ts');
  const { calibrate } = await import('./processor/calibrate.ts');
  const { loadsText, writeProcessorTable } = await import('./processor/table.ts');
  const { cpu, cores, platform, node } = machine();
  // Google's emulator cannot commit a transaction that its read began, so it has no conditional
  // write.
  const datastore = await startEmbeddedDatastore({ inProcess: false });
  const providers = [providerOn('datastore', datastore), await startAzure()];
  try {
    const size = { ...SIZE, processorMs, signal, log: console.error };
    const { costs, rounds, loads } = await calibrate(providers, size);
    const on = { cpu, cores, platform, node };
    const table = { measured: today(), machine: on, packages: await versions(ROOT), rounds, costs };
    const file = await writeProcessorTable(table, ROOT);
    console.log(`${loadsText(loads)}\n\n${file}`);
  } finally {
    for (const provider of providers) await provider.close();
  }
}

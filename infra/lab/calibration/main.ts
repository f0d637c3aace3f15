// `npm run calibrate`: measures what the model of the clouds is made of.
import { fileURLToPath } from 'node:url';
import { startEmbeddedDatastore } from '../../emulators/embedded.ts';
import { untilInterrupted } from '../../cli/interrupt.ts';
import { machine, versions } from '../../cli/machine.ts';
import { command, runCommand } from '../../cli/options.ts';
import { providerOn, startAzure } from '../providers.ts';
import { calibrate } from './processor/calibrate.ts';
import { loadsText, writeProcessorTable } from './processor/table.ts';

const CALIBRATE = command({
  name: 'npm run calibrate --',
  about: `Measures numbers of the model of the clouds. They are what a client spends of its own processor, on emulators, in 10 minutes and more.`,
  options: { quick: { help: 'shorter turns' } },
  examples: ['npm run calibrate -- --quick'],
});

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

await runCommand(CALIBRATE, process.argv.slice(2), ({ values: { quick } }) =>
  untilInterrupted((signal) => measureProcessor(quick ? QUICK_PROCESSOR_MS : PROCESSOR_MS, signal)),
);

async function measureProcessor(processorMs: number, signal: AbortSignal): Promise<void> {
  const { cpu, cores, platform, node } = machine();
  // Google's emulator cannot commit a transaction that its read began, so it has no conditional
  // write.
  await using started = new AsyncDisposableStack();
  const datastore = providerOn('datastore', await startEmbeddedDatastore({ inProcess: false }));
  started.defer(() => datastore.close());
  const azure = await startAzure();
  started.defer(() => azure.close());
  const { costs, rounds, loads } = await calibrate([datastore, azure], {
    ...SIZE,
    processorMs,
    signal,
    log: console.error,
  });
  const measured = new Date().toISOString().slice(0, 10);
  const on = { cpu, cores, platform, node };
  const table = { measured, machine: on, packages: await versions(ROOT), rounds, costs };
  const file = await writeProcessorTable(table, ROOT);
  console.log(`${loadsText(loads)}\n\n${file}`);
}

// `npm run model`: what the layouts do on modelled clouds, in virtual time.
import { availableParallelism } from 'node:os';
import type { ModelCell } from '../../shared/model/run/cell.ts';
import { scalePlan } from '../../shared/model/run/plans.ts';
import { resultsText } from '../../shared/model/run/text.ts';
import { command, runCommand, wholeNumber } from '../cli/options.ts';
import { runCells } from './workers.ts';

const SEED_MAX = 0xffff_ffff;

const MODEL = command({
  name: 'npm run model --',
  about: `A MODEL of the clouds, no measurement: this store's engine and the plain layouts on modelled providers in virtual time. The same seed gives
the same figures on any machine.`,
  options: {
    seed: { value: 'N', default: '1', help: 'everything random follows from it' },
    only: { value: 'WORDS', help: 'only cells whose name has all these words, like "datastore container put"' },
    workers: { value: 'N', default: String(availableParallelism()), help: 'threads; they change the time alone' },
    json: { help: 'the results as JSON on standard output, and nothing else' },
  },
  examples: ['npm run model -- --only "16 x 4"'],
});

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => stop.abort(new Error(`ended by ${signal}`)));

await runCommand(MODEL, process.argv.slice(2), async ({ values }) => {
  const seed = wholeNumber('--seed', values.seed, 0, SEED_MAX);
  const workers = wholeNumber('--workers', values.workers, 1, 64);
  const cells = scalePlan(seed).filter((cell) => isWanted(cell, values.only));
  const begunMs = performance.now();
  const results = await runCells(cells, {
    workers,
    signal: stop.signal,
    onResult: (_, done) =>
      console.error(`${done} of ${cells.length}, ${((performance.now() - begunMs) / 1_000).toFixed(0)} s`),
  });
  console.log(values.json ? JSON.stringify(results) : resultsText(results));
});

function isWanted({ provider, layout, case: name }: ModelCell, only = ''): boolean {
  const words = `${provider} ${layout} ${name}`;
  return only.split(' ').every((word) => words.includes(word));
}

// `npm run experiments`: serializers that two documents of 2007 and 2008 measured, beside today's.
import { setImmediate as turn } from 'node:timers/promises';
import { untilInterrupted } from '../../cli/interrupt.ts';
import { command, runCommand } from '../../cli/command-options.ts';
import { sayLines } from '../../cli/print.ts';
import type { Codec } from './codecs.ts';
import { QUESTIONS, type Row } from './documents.ts';
import { fidelityText, measured, questionText, wordsText } from './serializers.ts';

const EXPERIMENTS = command({
  name: 'npm run experiments --',
  about: `Measures serializers on the values of two documents of 2007 and 2008, and prints them beside the documents' figures, in a minute.
Three more documents are plans of the comparison: npm start -- document-b, document-c and document-e.`,
  options: {},
  examples: ['npm run experiments'],
});

const ROUNDS = 5;

await runCommand(EXPERIMENTS, process.argv.slice(2), () =>
  untilInterrupted(async (signal) => {
    for (const question of QUESTIONS) {
      // Work that never waits would keep signals from being handled.
      await turn();
      signal.throwIfAborted();
      const figures = measured(codecsIn(question.rows), question.value, ROUNDS);
      sayLines(`${questionText(question, figures)}\n`);
    }
    sayLines(`${fidelityText(codecsIn(QUESTIONS.flatMap(({ rows }) => rows)))}\n\n${wordsText(ROUNDS)}`);
  }),
);

/** Each codec once: one may be the counterpart of several serializers of that time. */
function codecsIn(rows: readonly Row[]): Codec[] {
  return [...new Set(rows.flatMap(({ measured: codec }) => codec ?? []))];
}

// `npm run fuzz -- --requests 20000 --seed 1`: sends fuzzed requests, counts their answers, and
// prints those that were answered wrongly. Ends with 1 where one was.
import { parseArgs } from 'node:util';
import { fuzzed } from './fuzz-run.ts';

const { values } = parseArgs({
  options: { requests: { type: 'string', default: '20000' }, seed: { type: 'string', default: '1' } },
});
const SHOWN_MAX = 15;

const answers = new Map<string, number>();
let wrong = 0;
for await (const { request, status, code, faults } of fuzzed({
  seed: Number(values.seed),
  requests: Number(values.requests),
})) {
  const answer = `${status} ${code ?? ''}`;
  answers.set(answer, (answers.get(answer) ?? 0) + 1);
  if (faults.length === 0) continue;
  wrong += 1;
  const { method, target, headers, body } = request;
  const sent = headers.map(([name, value]) => `${name}: ${value.slice(0, 40)}`).join(', ');
  if (wrong <= SHOWN_MAX)
    process.stdout.write(
      `wrong: ${faults.join('; ')}: ${method} ${target.slice(0, 80)} [${sent}] ${body?.length ?? 0} bytes: ${answer}\n`,
    );
}
for (const [answer, count] of [...answers].sort((a, b) => b[1] - a[1])) process.stdout.write(`${count}\t${answer}\n`);
process.stdout.write(`${wrong} wrong\n`);
process.exitCode = wrong > 0 ? 1 : 0;

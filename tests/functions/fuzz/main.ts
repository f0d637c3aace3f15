// `npm run fuzz -- --requests 20000 --seed 1`: sends fuzzed requests, and prints which of them were
// dear and which were answered wrongly. Ends with 1 where one was.
import { parseArgs } from 'node:util';
import { type Answered, fuzzed } from './run.ts';

const { values } = parseArgs({
  options: { requests: { type: 'string', default: '20000' }, seed: { type: 'string', default: '1' } },
});
const SIZE_MAX = 17_000_000;
/** A request should cost less, whatever is in it. */
const [CPU_MS_MAX, GROWN_MIB_MAX] = [100, 64];
const SHOWN_MAX = 15;

const answers = new Map<string, number>();
const dear: Answered[] = [];
let wrong = 0;
for await (const answered of fuzzed({
  seed: Number(values.seed),
  requests: Number(values.requests),
  sizeMax: SIZE_MAX,
})) {
  const { status, code, cpuMs, grownMib, faults } = answered;
  const answer = `${status} ${code ?? ''}`;
  answers.set(answer, (answers.get(answer) ?? 0) + 1);
  if (cpuMs > CPU_MS_MAX || grownMib > GROWN_MIB_MAX) dear.push(answered);
  if (faults.length > 0) {
    wrong += 1;
    if (wrong <= SHOWN_MAX) process.stdout.write(`wrong: ${faults.join('; ')}: ${textOf(answered)}\n`);
  }
}
for (const [answer, count] of [...answers].sort((a, b) => b[1] - a[1])) process.stdout.write(`${count}\t${answer}\n`);
process.stdout.write(`${wrong} wrong; ${dear.length} above ${CPU_MS_MAX} ms or ${GROWN_MIB_MAX} MiB\n`);
for (const one of dear.sort((a, b) => b.cpuMs - a.cpuMs).slice(0, SHOWN_MAX)) process.stdout.write(`${textOf(one)}\n`);
process.exitCode = wrong > 0 ? 1 : 0;

function textOf({ request, status, code, cpuMs, grownMib, answerBytes }: Answered): string {
  const { method, target, headers, body } = request;
  const sent = headers.map(([name, value]) => `${name}: ${value.slice(0, 40)}`).join(', ');
  const cost = `${Math.round(cpuMs)} ms, ${Math.round(grownMib)} MiB, ${answerBytes} bytes`;
  return `${cost}\t${method} ${target.slice(0, 80)} [${sent}] ${body?.length ?? 0} bytes: ${status} ${code ?? ''}`;
}

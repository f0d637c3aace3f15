// What the figures of this run say about document D.
import { type FigureTable, type Finding, ratioOf, type WordTable } from '../../results.ts';
import { short } from '../../words.ts';

/** A figure of then and now that are within this factor of each other count as alike. */
const ALIKE = 2;

/** Within this factor of the fastest a run cannot tell the two apart. */
const CLOSE = 1.25;

export function findingsOf(table: FigureTable, fidelity: WordTable): Finding[] {
  return [json(table), yaml(table), own(table), givesBack(fidelity)];
}

function json(table: FigureTable): Finding {
  const [slow, fast] = ['simplejson', 'cjson'].map((row) => ratioOf(table, row, 'printed'));
  const now = ratioOf(table, 'cjson', 'encode');
  if (now === undefined || slow === undefined || fast === undefined) return open('JSON');
  return {
    verdict: now < slow / ALIKE ? 'does not hold' : 'holds',
    text: `JSON took ${short(slow)} times as long as the language's own text form then, and ${short(fast)} times in C; it takes ${short(now)} times as long now.`,
  };
}

function yaml(table: FigureTable): Finding {
  const [first, second] = ['pyYAML', 'pySyck'].map((row) => ({
    printed: ratioOf(table, row, 'printed'),
    now: ratioOf(table, row, 'encode'),
  }));
  if (first?.now === undefined || second?.now === undefined) return open('YAML');
  const others = table.rows.filter(({ id }) => id !== 'pyYAML' && id !== 'pySyck');
  const slowestOther = Math.max(...others.map(({ id }) => ratioOf(table, id, 'encode') ?? 0));
  const isSlowest = Math.min(first.now, second.now) > slowestOther;
  return {
    verdict: isSlowest ? 'holds' : 'does not hold',
    text: `YAML was the slowest: ${short(first.printed ?? NaN)} and ${short(second.printed ?? NaN)} times the text form then, ${short(first.now)} and ${short(second.now)} times now; the slowest of the others takes ${short(slowestOther)} times.`,
  };
}

/** Marshal, the runtime's own binary format, was the fastest. */
function own(table: FigureTable): Finding {
  const [then, now] = ['printed', 'encode'].map((column) => ratioOf(table, 'marshal', column));
  const ratios = table.rows.flatMap(({ id, name, standIn }) => {
    const ratio = ratioOf(table, id, 'encode');
    return ratio === undefined ? [] : [{ name: standIn ?? name, ratio }];
  });
  const [best] = ratios.toSorted((one, other) => one.ratio - other.ratio);
  if (then === undefined || now === undefined || best === undefined) return open('The runtime’s own format');
  return {
    verdict: now <= CLOSE * best.ratio ? 'holds' : 'does not hold',
    text: `The runtime's own binary format was the fastest: ${short(then)} of the text form's time then, ${short(now)} now. The fastest now is ${best.name} with ${short(best.ratio)}.`,
  };
}

/** A comment under the document: some serializers decode wrongly, and few keep references. */
function givesBack({ rows }: WordTable): Finding {
  const whole = rows.filter(({ cells }) => cells.every((cell) => cell === 'same')).map(({ name }) => name);
  const silent = rows.filter(({ cells }) => cells.some((cell) => cell !== 'same' && cell !== 'refused'));
  return {
    verdict: silent.length > 0 ? 'holds' : 'does not hold',
    text: `Round trips have to be checked: ${silent.length} of ${rows.length} formats give something else back without an error; all values come back the same from ${whole.length === 0 ? 'none' : whole.join(' and ')}.`,
  };
}

function open(what: string): Finding {
  return { verdict: 'open', text: `${what} was not measured in this run.` };
}

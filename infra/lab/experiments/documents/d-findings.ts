// Findings on document D.
import { factor } from '../../../../shared/lab/kit/format.ts';
import {
  type FigureTable,
  type Finding,
  ratioOf,
  type WordTable,
} from '../../../../shared/lab/report/chapters/schema.ts';
import { CLOSE, judgedBy, ranked, ratioText } from '../words.ts';

/** Figures of then and now that are within this factor of each other count as alike. */
const ALIKE = 2;

export function findingsOf(table: FigureTable, fidelity: WordTable): Finding[] {
  return [json(table), yaml(table), own(table), givesBack(fidelity)];
}

/** Cjson was in C, as JSON.stringify is in C++. Simplejson, in Python, is like nothing of today. */
function json(table: FigureTable): Finding {
  const then = ratioOf(table, 'cjson', 'then-encode')!;
  return judgedBy([ratioOf(table, 'cjson', 'now-encode')], 'JSON', (now) => [
    now >= then / ALIKE && now <= then * ALIKE,
    `JSON by native code took ${factor(then)} the time of the language's own text form then, and takes ${factor(now)} now. (In Python itself it took ${ratioText(table, 'simplejson', 'then-encode')}: nothing of today is like that.)`,
  ]);
}

function yaml(table: FigureTable): Finding {
  const rows = ['pyYAML', 'pySyck'];
  const others = table.rows.filter(({ id }) => !rows.includes(id));
  const slowest = Math.max(...others.map(({ id }) => ratioOf(table, id, 'now-encode') ?? 0));
  const then = rows.map((row) => ratioText(table, row, 'then-encode'));
  const ratios = rows.map((row) => ratioOf(table, row, 'now-encode'));
  return judgedBy(ratios, 'YAML', (...now) => [
    Math.min(...now) > slowest,
    `YAML was the slowest: ${then.join(' and ')} the text form's time then, ${now.map(factor).join(' and ')} now; the slowest of the others takes ${factor(slowest)}.`,
  ]);
}

/** Marshal, the runtime's own binary format, was the fastest. */
function own(table: FigureTable): Finding {
  const [best] = ranked(table, 'now-encode');
  return judgedBy([ratioOf(table, 'marshal', 'now-encode')], 'The runtime’s own format', (now) => [
    now <= CLOSE * best!.ratio,
    `The runtime's own binary format was the fastest: ${ratioText(table, 'marshal', 'then-encode')} the text form's time then, ${factor(now)} now. The fastest now is ${best!.name} with ${factor(best!.ratio)}.`,
  ]);
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

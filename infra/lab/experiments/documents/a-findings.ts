// Findings on document A.
import { factor, percent } from '../../../../shared/lab/kit/format.ts';
import { type FigureTable, type Finding, ratioOf } from '../../../../shared/lab/report/chapters/schema.ts';
import { CLOSE, judgedBy, ranked } from '../words.ts';

type Tables = Readonly<Record<'rows' | 'container' | 'defaults', FigureTable>>;

export function findingsOf({ rows, container, defaults }: Tables): Finding[] {
  return [share(container), fastest(rows), csvNow(rows), compression(defaults)];
}

/** "The serializer decides everything." */
function share(container: FigureTable): Finding {
  const shares = container.columns.flatMap(({ id, era, where }) => {
    const [decode, encode] = ['decode', 'encode'].map((row) => ratioOf(container, row, id));
    return decode === undefined || encode === undefined ? [] : [{ era, where, share: decode + encode }];
  });
  const [then, now] = [shares.filter(({ era }) => era === 'then'), shares.filter(({ era }) => era === 'now')];
  const texts = now.map(({ where, share: part }) => `${percent(part)} (${where})`);
  return judgedBy([now[0]?.share], 'What an operation spends on its serializer', () => [
    now.every(({ share: part }) => part > 0.5),
    `"The serializer decides everything": decoding and encoding took ${percent(then[0]!.share)} of an operation on a container of 100 kB then, and ${texts.join(' and ')} now, where reading and writing meet no network.`,
  ]);
}

/** "Marshal wins", by far: the runtime's own format. */
function fastest(rows: FigureTable): Finding {
  const [then, now] = [ranked(rows, 'then-total'), ranked(rows, 'now-total')];
  const rival = now.find(({ id }) => then.some((one) => one.id === id));
  return judgedBy([ratioOf(rows, 'marshal', 'now-total')], 'Which serializer is the fastest', (own) => [
    own <= CLOSE * rival!.ratio,
    `The runtime's own format was the fastest then: marshal, in C, took ${factor(then[0]!.ratio)} the time of JSON, in Python, for 10,000 rows. Now both are in C++, and v8 serialize takes ${factor(own)} JSON's time; the fastest of all measured is ${now[0]!.name} with ${factor(now[0]!.ratio)}, the slowest ${now.at(-1)!.name} with ${factor(now.at(-1)!.ratio)}.`,
  ]);
}

/** "CSV comes second and is portable." */
function csvNow(rows: FigureTable): Finding {
  const ratios = ['then-total', 'now-total', 'then-bytes', 'now-bytes'].map((column) => ratioOf(rows, 'csv', column));
  return judgedBy(ratios, 'CSV', (then, now, thenBytes, nowBytes) => [
    now < 1,
    `CSV was faster than JSON and smaller: ${factor(then)} its time (its decoding taken as twice what was printed) and ${factor(thenBytes)} its bytes then, ${factor(now)} its time and ${factor(nowBytes)} its bytes now.`,
  ]);
}

/** "ZIP makes it smaller", on real text. */
function compression(defaults: FigureTable): Finding {
  const ratios = ['stored', 'load', 'get'].map((column) => ratioOf(defaults, 'msgpack+none', column));
  return judgedBy(ratios, 'What compression saves', (plain, load, get) => [
    plain > 1,
    `Compression makes a container smaller: on real text zstd stores ${factor(1 / plain)} the bytes. Without it a load takes ${factor(load)} the processor time, and a get ${factor(get)}.`,
  ]);
}

// The picture of the first screen: a line for each pair, with the layout's symbol at container's
// multiple of its rate.
import { factor, whole, whyUndecided } from '../kit/format.ts';
import { mark } from './html-parts.ts';
import { isOneRun, isTold, type Pair } from './lead.ts';
import { PROVIDER_COLOURS, PROVIDER_SHORT_NAMES } from './names.ts';
import { placed, type Track, trackHtml, trackOf } from './track.ts';

/** The track reaches so far at least. */
const RANGE_MIN = 1.25;

/** The picture as HTML; the line is where both are as fast. */
export function ratioPicture(pairs: readonly Pair[]): string {
  const shown = pairs.filter(({ ratio }) => ratio.low > 0);
  const at = trackOf(
    shown.flatMap(({ ratio }) => [ratio.low, ratio.high]),
    RANGE_MIN,
  );
  const groups = [...Map.groupBy(shown, (pair) => nameOf(pair, hasSizes(pairs)))];
  const lines = groups.flatMap(([name, own]) => own.map((pair, place) => lineHtml(place === 0 ? name : '', pair, at)));
  return `<div class="ratios">${lines.join('')}</div>`;
}

/** Name, track and number; faint where it cannot be told apart. */
function lineHtml(name: string, { provider, other, ratio }: Pair, at: Track): string {
  const symbol = `<b style="${placed(at(ratio.ratio))}">${mark(provider, other)}</b>`;
  const track = trackHtml(at, [ratio.low, ratio.high], PROVIDER_COLOURS[provider], symbol);
  const number = `${factor(ratio.ratio)}${isTold(ratio) || isOneRun(ratio) ? '' : ' ?'}`;
  return `<span>${name}</span><div${isTold(ratio) ? '' : ' class="faint"'}>${track}</div><span class="n">${number}</span>`;
}

function hasSizes(pairs: readonly Pair[]): boolean {
  return new Set(pairs.map(({ recordBytes }) => recordBytes)).size > 1;
}

function nameOf({ provider, workload, recordBytes }: Pair, isSized: boolean): string {
  return `${PROVIDER_SHORT_NAMES[provider]} ${workload}${isSized ? `, ${whole(recordBytes)} B` : ''}`;
}

/** The picture in words. */
export function ratioWords(pairs: readonly Pair[]): string {
  const words = (pair: Pair): string => {
    const figures = [factor(pair.ratio.ratio), whyUndecided(pair.ratio) ?? []].flat();
    return `${nameOf(pair, hasSizes(pairs))}, container to ${pair.other}: ${figures.join(', ')}`;
  };
  return pairs.map(words).join('; ');
}

// Ratios as bars on a logarithmic track, in HTML and the page's style alone.

/** A ratio's place in percent of the track's length. */
export type Track = (ratio: number) => number;

/** The track that holds all of these, and reaches `least` times to both sides of 1 at least. */
export function trackOf(ratios: readonly number[], least: number): Track {
  const [low, high] = [Math.min(1 / least, ...ratios), Math.max(least, ...ratios)];
  return (ratio) => (100 * Math.log(ratio / low)) / Math.log(high / low);
}

/** One line of it: where both are alike, a bar between two ratios, and what else is drawn. */
export function trackHtml(at: Track, ends: readonly [number, number], colour: string, more = ''): string {
  const [left, right] = [at(Math.min(...ends)), at(Math.max(...ends))];
  const bar = `<i style="${placed(left)};width:${(right - left).toFixed(1)}%;background:${colour}"></i>`;
  return `<span class="track" aria-hidden="true"><i class="alike" style="${placed(at(1))}"></i>${bar}${more}</span>`;
}

/** The style of what stands at so many percent. */
export function placed(percent: number): string {
  return `left:${percent.toFixed(1)}%`;
}

// Texts of a given length for records: English words and numbers, so that compression gains what it gains on text.
import { seededRandom, randomInt } from '../../../shared/lab/kit/random.ts';
import { WORDS } from '../../../shared/lab/work/words.ts';

/** Far more than a container's page holds of them: no compression reaches back to the same one. */
const POOL_SIZE = 512;

/** A text for each number, of so many characters, all ASCII. They repeat after 512. */
export function textsOf(characters: number): (index: number) => string {
  const random = seededRandom(characters);
  const pool = Array.from({ length: POOL_SIZE }, () => text(random, characters));
  return (index) => pool[index % POOL_SIZE]!;
}

function text(random: () => number, characters: number): string {
  let words = '';
  while (words.length < characters)
    words += `${WORDS[randomInt(random, WORDS.length)]} ${randomInt(random, 18) === 0 ? `${randomInt(random, 1_000_000)} ` : ''}`;
  return words.slice(0, characters);
}

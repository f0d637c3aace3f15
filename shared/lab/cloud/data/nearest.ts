// Finds what somebody meant who mistyped a name.

/** The fewest changes of a character (Levenshtein); of equals the first. Throws without names. */
export function nearestOf<N extends string>(wanted: string, names: readonly N[]): N {
  const [first] = names;
  if (first === undefined) throw new TypeError('there are no names');
  let nearest = first;
  let least = Infinity;
  for (const name of names) {
    const distance = distanceOf(wanted, name);
    if (distance < least) [nearest, least] = [name, distance];
  }
  return nearest;
}

function distanceOf(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const line = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const change = above[column - 1]! + (a[row - 1] === b[column - 1] ? 0 : 1);
      line.push(Math.min(change, above[column]! + 1, line[column - 1]! + 1));
    }
    above = line;
  }
  return above[b.length]!;
}

// A stand-in's contents at one moment, so that several tests begin at the end of one deployment.

type Held = Map<string, unknown> | Set<string>;

/** Gives what puts the maps and sets back as they are now. It may be called any number of times. */
export function kept(...held: readonly Held[]): () => void {
  const before = structuredClone(held);
  return () => {
    for (const [index, was] of structuredClone(before).entries()) refill(held[index]!, was);
  };
}

function refill(held: Held, was: Held): void {
  held.clear();
  if (held instanceof Set) for (const name of was.keys()) held.add(name);
  else for (const [name, value] of was.entries()) held.set(name, value);
}

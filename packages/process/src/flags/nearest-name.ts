// Which known name a typo meant: for flags, verbs, kinds, contexts and shards alike.

/** Longer names are no typos of ours, and comparing them costs their length squared. */
const MAX_NAME_LENGTH = 64;

/**
 * The nearest known name, the first of equals; undefined when none is near. Two edits are a typo, in
 * a long name a third of its letters; a name that keeps none of its letters is another name.
 */
export function nearestName(known: Iterable<string>, given: string): string | undefined {
  if (given.length > MAX_NAME_LENGTH) return undefined;
  let nearest: string | undefined;
  let fewest = Math.min(Math.max(2, Math.floor(given.length / 3)), given.length - 1) + 1;
  for (const name of known) {
    if (Math.abs(name.length - given.length) >= fewest) continue;
    const edits = distance(name, given);
    if (edits < fewest) [nearest, fewest] = [name, edits];
  }
  return nearest;
}

/** Insertions, deletions and replacements from one to the other. */
function distance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const isSame = a[row - 1] === b[column - 1];
      const replaced = (previous[column - 1] ?? 0) + (isSame ? 0 : 1);
      const inserted = (current[column - 1] ?? 0) + 1;
      const deleted = (previous[column] ?? 0) + 1;
      current.push(Math.min(replaced, inserted, deleted));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}

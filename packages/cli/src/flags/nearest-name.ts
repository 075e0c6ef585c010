// Which known name a typo meant: for flags, verbs, kinds, contexts and shards alike.

const MAX_EDITS = 2;

/** The nearest known name within two edits, the first of equals; undefined when none is near. */
export function nearestName(known: readonly string[], given: string): string | undefined {
  let nearest: string | undefined;
  let fewest = Math.min(MAX_EDITS, given.length - 1) + 1;
  for (const name of known) {
    const edits = distance(name, given);
    if (edits < fewest) [nearest, fewest] = [name, edits];
  }
  return nearest;
}

/** Edits between two names, counted up to 3: enough to know a typo. */
function distance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 2) return 3;
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
  return previous[b.length] ?? 3;
}

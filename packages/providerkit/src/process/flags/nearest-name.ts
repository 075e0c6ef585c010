// The known name that a mistyped one most likely meant: `--metric-addr` → `--metrics-addr`.

const MAX_NAME_LENGTH = 64;

/** Undefined when nothing is near enough to be a help. */
export function nearestName(wrong: string, names: Iterable<string>): string | undefined {
  if (wrong.length > MAX_NAME_LENGTH) return undefined;
  let nearest: string | undefined;
  let least = Math.max(2, Math.floor(wrong.length / 3)) + 1;
  for (const name of names) {
    const distance = editDistance(wrong, name);
    if (distance < least) {
      least = distance;
      nearest = name;
    }
  }
  return nearest;
}

/** Insertions, deletions and replacements from one to the other. */
function editDistance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const replaced = (previous[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1);
      const removed = (previous[column] ?? 0) + 1;
      const added = (current[column - 1] ?? 0) + 1;
      current.push(Math.min(replaced, removed, added));
    }
    previous = current;
  }
  return previous[to.length] ?? 0;
}

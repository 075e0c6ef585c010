// Resources and labels repeat: ten thousand slots of one offering carry the same few maps. Equal
// maps become one, so memory and encoding cost what is different. Bounded; beyond the bound maps
// are simply kept as they come. Copies what it keeps: a backend may reuse its own Map.

const MAX_INTERNED = 20_000;

export class MapInterner {
  readonly #known = new Map<string, ReadonlyMap<string, string>>();

  intern(map: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
    const key = keyOf(map);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const copy: ReadonlyMap<string, string> = new Map(map);
    if (this.#known.size < MAX_INTERNED) this.#known.set(key, copy);
    return copy;
  }
}

/** Lengths before the texts, so that no text can imitate a separator. */
function keyOf(map: ReadonlyMap<string, string>): string {
  let key = '';
  for (const [name, value] of map) key += `${name.length}:${value.length}:${name}${value}`;
  return key;
}

export function sameEntries(
  a: ReadonlyMap<string, string> | undefined,
  b: ReadonlyMap<string, string> | undefined,
): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined || a.size !== b.size) return false;
  for (const [key, value] of a) {
    if (b.get(key) !== value) return false;
  }
  return true;
}

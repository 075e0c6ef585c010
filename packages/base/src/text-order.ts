// The order of ids, names and fingerprints wherever an order decides something: by Unicode code
// point, which is the byte order of UTF-8. Locale-free, total, the same on every machine and in
// peers that compare bytes; `<` orders by UTF-16 units and differs for astral characters.

export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left !== right) return codePointRank(left) - codePointRank(right);
  }
  return a.length - b.length;
}

/** Surrogates stand for code points above all others, though their units lie below U+E000. */
function codePointRank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

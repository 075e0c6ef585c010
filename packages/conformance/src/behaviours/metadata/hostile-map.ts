// The 55-key map of B501: what a careless codec, store or copy loses. NUL and control characters,
// text outside the basic plane, both spellings of one glyph, blanks at the ends, empty values, and
// keys that a plain object inherits.

const controls = [...range(0x00, 0x1f), 0x7f, ...range(0x80, 0x87)];

const named: readonly (readonly [string, string])[] = [
  ['hostile/nul\u0000inside-key', 'nul\u0000inside\u0000value'],
  ['hostile/trailing-space ', ' both ends '],
  ['hostile/tab-newline', '\t\r\n'],
  ['hostile/empty', ''],
  ['hostile/emoji-🚀', '👩‍👩‍👧‍👦 𝄞'],
  ['hostile/astral', '\u{10ffff}\u{10000}'],
  ['hostile/rtl', 'שלום\u202eabc'],
  ['hostile/nfc-é', 'caf\u00e9'],
  ['hostile/nfd-e\u0301', 'cafe\u0301'],
  ['hostile/CASE', 'Upper and lower'],
  ['hostile/case', 'lower and Upper'],
  ['__proto__', 'polluted'],
  ['constructor', 'inherited'],
  ['hostile/bom', '\ufeffvalue\ufffd'],
];

/** One key per control character, and the named ones: 55 together. */
export function hostileMap(): ReadonlyMap<string, string> {
  const map = new Map(named);
  for (const code of controls) {
    map.set(`control/${code}`, `<${String.fromCharCode(code)}>`);
  }
  return map;
}

function range(first: number, last: number): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, at) => first + at);
}

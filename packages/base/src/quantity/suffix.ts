// The suffixes of the quantity grammar. `E` alone is exa; `E` or `e` followed by digits is an
// exponent and is not handled here. There is no `K`, `mi` or `i`: Kubernetes refuses them, and
// guessing what was meant would be off by 2.4 % or by a factor of a million.

export interface Suffix {
  readonly text: string;
  readonly decimalExponent: number;
  readonly binaryExponent: number;
}

export const NO_SUFFIX: Suffix = decimal('', 0);

/** By decimal exponent, from nano to exa in steps of three. */
export const DECIMAL_SUFFIXES: readonly Suffix[] = [
  decimal('n', -9),
  decimal('u', -6),
  decimal('m', -3),
  NO_SUFFIX,
  decimal('k', 3),
  decimal('M', 6),
  decimal('G', 9),
  decimal('T', 12),
  decimal('P', 15),
  decimal('E', 18),
];

/** By power of 1024, from none to exbi. */
export const BINARY_SUFFIXES: readonly Suffix[] = [
  NO_SUFFIX,
  binary('Ki', 10),
  binary('Mi', 20),
  binary('Gi', 30),
  binary('Ti', 40),
  binary('Pi', 50),
  binary('Ei', 60),
];

const LOWER_I = 0x69;

const oneCharacter = tableByFirstCode(DECIMAL_SUFFIXES);
const twoCharacters = tableByFirstCode(BINARY_SUFFIXES);

/** The suffix that makes up the rest of `text` from `at`, or undefined if the rest is not one. */
export function suffixAt(text: string, at: number): Suffix | undefined {
  switch (text.length - at) {
    case 0:
      return NO_SUFFIX;
    case 1:
      return oneCharacter[text.charCodeAt(at)];
    case 2:
      return text.charCodeAt(at + 1) === LOWER_I ? twoCharacters[text.charCodeAt(at)] : undefined;
    default:
      return undefined;
  }
}

function decimal(text: string, decimalExponent: number): Suffix {
  return { text, decimalExponent, binaryExponent: 0 };
}

function binary(text: string, binaryExponent: number): Suffix {
  return { text, decimalExponent: 0, binaryExponent };
}

/** Arrays indexed by code: no key of any input can reach a prototype. */
function tableByFirstCode(suffixes: readonly Suffix[]): readonly (Suffix | undefined)[] {
  const table: (Suffix | undefined)[] = new Array<Suffix | undefined>(128).fill(undefined);
  for (const suffix of suffixes) {
    if (suffix.text !== '') table[suffix.text.charCodeAt(0)] = suffix;
  }
  return table;
}

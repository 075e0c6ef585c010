// Reads the golden vectors of api/golden: text in, field lines out. The grammar is described in
// api/golden/README.md. Knows nothing of protobuf descriptors and imports no protobuf library, so
// that an error there cannot hide here; a line that it does not understand is an error, never
// skipped.

export type FieldValue =
  | { readonly kind: 'string'; readonly text: string }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'int32' | 'uint32' | 'int64' | 'uint64'; readonly int: bigint }
  | { readonly kind: 'double'; readonly double: number }
  | { readonly kind: 'bool'; readonly bool: boolean }
  | { readonly kind: 'enum'; readonly name: string; readonly number: number }
  | { readonly kind: 'message'; readonly lines: readonly FieldLine[] }
  | { readonly kind: 'packed'; readonly items: readonly FieldValue[] }
  | { readonly kind: 'entry'; readonly key: string; readonly value: FieldValue };

export interface FieldLine {
  /** Undefined: not on the wire; the line states what the absent field reads as. */
  readonly number: number | undefined;
  readonly name: string;
  /** `singular`, `optional`, `repeated`, `map` or `oneof:<group>`. */
  readonly label: string;
  /** A scalar name, the short name of an enum or message, or `key,value` of a map. */
  readonly type: string;
  readonly value: FieldValue;
}

export interface Vector {
  readonly message: string;
  /** Where to look when it fails: file name and line. */
  readonly origin: string;
  readonly lines: readonly FieldLine[];
}

export function parseVectors(fileName: string, text: string): Vector[] {
  const tokens = new Tokens(fileName, text);
  const vectors: Vector[] = [];
  while (!tokens.atEnd()) {
    const origin = tokens.origin();
    tokens.expect('vector');
    const message = tokens.next();
    tokens.expect('{');
    vectors.push({ message, origin, lines: parseLines(tokens) });
  }
  return vectors;
}

function parseLines(tokens: Tokens): FieldLine[] {
  const lines: FieldLine[] = [];
  while (!tokens.take('}')) lines.push(parseLine(tokens));
  return lines;
}

function parseLine(tokens: Tokens): FieldLine {
  const numberToken = tokens.next();
  if (!/^(-|[1-9][0-9]*)$/.test(numberToken)) tokens.fail(`not a field number: ${numberToken}`);
  const number = numberToken === '-' ? undefined : Number(numberToken);
  const name = tokens.next();
  const word = tokens.next();
  const map = /^map<(\w+,\w+)>$/.exec(word)?.[1];
  if (map !== undefined) {
    const key = parseString(tokens);
    const value = parseValue(tokens, map.slice(map.indexOf(',') + 1));
    return { number, name, label: 'map', type: map, value: { kind: 'entry', key, value } };
  }
  const hasLabel = /^(repeated|optional|oneof:\w+)$/.test(word);
  const type = hasLabel ? tokens.next() : word;
  const label = hasLabel ? word : 'singular';
  return { number, name, label, type, value: parseValue(tokens, type) };
}

function parseValue(tokens: Tokens, type: string): FieldValue {
  if (tokens.take('[')) {
    const items: FieldValue[] = [];
    while (!tokens.take(']')) items.push(parseValue(tokens, type));
    return { kind: 'packed', items };
  }
  if (tokens.take('{')) return { kind: 'message', lines: parseLines(tokens) };
  switch (type) {
    case 'string':
      return { kind: 'string', text: parseString(tokens) };
    case 'bytes':
      return { kind: 'bytes', bytes: parseHex(tokens) };
    case 'int32':
    case 'uint32':
    case 'int64':
    case 'uint64':
      return { kind: type, int: BigInt(tokens.next()) };
    case 'double':
      return { kind: 'double', double: parseDouble(tokens) };
    case 'bool':
      return { kind: 'bool', bool: parseBool(tokens) };
    default:
      return parseEnum(tokens);
  }
}

function parseString(tokens: Tokens): string {
  const value: unknown = JSON.parse(tokens.next());
  return typeof value === 'string' ? value : tokens.fail('expected a string literal');
}

function parseHex(tokens: Tokens): Uint8Array {
  const token = tokens.next();
  const hex = /^hex:((?:[0-9a-f]{2})*)$/.exec(token)?.[1];
  if (hex === undefined) return tokens.fail(`expected hex:…, found ${token}`);
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

function parseDouble(tokens: Tokens): number {
  const token = tokens.next();
  if (token === 'nan') return Number.NaN;
  if (token === 'inf') return Number.POSITIVE_INFINITY;
  if (token === '-inf') return Number.NEGATIVE_INFINITY;
  const value = Number(token);
  return Number.isFinite(value) ? value : tokens.fail(`not a double: ${token}`);
}

function parseBool(tokens: Tokens): boolean {
  const token = tokens.next();
  if (token !== 'true' && token !== 'false') return tokens.fail(`not a bool: ${token}`);
  return token === 'true';
}

function parseEnum(tokens: Tokens): FieldValue {
  const token = tokens.next();
  const match = /^([A-Z][A-Z0-9_]*)=(\d+)$/.exec(token);
  if (match?.[1] === undefined) return tokens.fail(`expected NAME=number, found ${token}`);
  return { kind: 'enum', name: match[1], number: Number(match[2]) };
}

class Tokens {
  readonly #fileName: string;
  readonly #tokens: { readonly text: string; readonly line: number }[] = [];
  #at = 0;

  constructor(fileName: string, text: string) {
    this.#fileName = fileName;
    for (const [index, line] of text.split('\n').entries()) {
      for (const [token] of line.matchAll(/"(?:[^"\\]|\\.)*"|#.*|[{}[\]]|[^\s{}[\]"#]+|"/g)) {
        if (!token.startsWith('#')) this.#tokens.push({ text: token, line: index + 1 });
      }
    }
  }

  atEnd(): boolean {
    return this.#at === this.#tokens.length;
  }

  origin(): string {
    const token = this.#tokens[Math.min(this.#at, this.#tokens.length - 1)];
    return `${this.#fileName}:${token?.line ?? 0}`;
  }

  next(): string {
    const token = this.#tokens[this.#at];
    if (token === undefined) return this.fail('unexpected end of file');
    this.#at += 1;
    return token.text;
  }

  take(text: string): boolean {
    if (this.#tokens[this.#at]?.text !== text) return false;
    this.#at += 1;
    return true;
  }

  expect(text: string): void {
    if (!this.take(text)) this.fail(`expected ${text}`);
  }

  fail(reason: string): never {
    throw new Error(`${this.origin()}: ${reason}`);
  }
}

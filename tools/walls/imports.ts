// Finds every way a module can name another one: static import and export-from (types too),
// side-effect imports, `import x = require()`, dynamic import and import types, require,
// import.meta.resolve, and `new URL('./x', import.meta.url)`.
//
// A specifier that is computed cannot be checked, so it is reported as such and refused by the
// walls: one `import(name)` would otherwise open every wall at once. So would a createRequire.

import type { Token } from './lex.ts';

export type ImportKind =
  | 'static'
  | 'type'
  | 'side-effect'
  | 'dynamic'
  | 'require'
  | 'resolve'
  | 'url';

export interface ImportRef {
  readonly kind: ImportKind;
  /** Absent when it is not one plain literal. */
  readonly specifier: string | undefined;
  readonly line: number;
  /** Local names that this import binds; `imported` is '*' for a namespace. */
  readonly names: readonly ImportedName[];
}

export interface ImportedName {
  readonly imported: string;
  readonly local: string;
}

export function findImports(tokens: readonly Token[]): ImportRef[] {
  const found: ImportRef[] = [];
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i];
    if (token?.kind !== 'name') continue;
    if (token.text === 'createRequire') {
      // What it returns may import anything under any name.
      found.push({ kind: 'require', specifier: undefined, line: token.line, names: [] });
    }
    if (isProperty(tokens, i)) continue;
    const ref =
      token.text === 'import'
        ? importAt(tokens, i)
        : token.text === 'export'
          ? exportAt(tokens, i)
          : token.text === 'new'
            ? urlAt(tokens, i)
            : token.text === 'require'
              ? requireAt(tokens, i)
              : undefined;
    if (ref !== undefined) found.push(ref);
  }
  return found;
}

function isProperty(tokens: readonly Token[], i: number): boolean {
  const before = tokens[i - 1]?.text;
  const punct = tokens[i - 1]?.kind === 'punct';
  if (punct && (before === '.' || before === '?.')) return true;
  return is(tokens, i + 1, ':') && before !== '?' && before !== 'case';
}

function is(tokens: readonly Token[], i: number, text: string): boolean {
  const token = tokens[i];
  return token?.text === text && (token.kind === 'punct' || token.kind === 'name');
}

/** The value at i, when it is one plain literal. */
function literal(tokens: readonly Token[], i: number): string | undefined {
  const token = tokens[i];
  if (token?.kind !== 'string' && token?.kind !== 'template') return undefined;
  if (token.partial === true || token.text.includes('\\')) return undefined;
  return token.text;
}

function argument(tokens: readonly Token[], openAt: number): string | undefined {
  const closed = is(tokens, openAt + 2, ')') || is(tokens, openAt + 2, ',');
  return closed ? literal(tokens, openAt + 1) : undefined;
}

function importAt(tokens: readonly Token[], i: number): ImportRef | undefined {
  const line = tokens[i]?.line ?? 0;
  if (is(tokens, i + 1, '(')) {
    if (isMethodDeclaration(tokens, i + 1)) return undefined;
    return { kind: 'dynamic', specifier: argument(tokens, i + 1), line, names: [] };
  }
  if (is(tokens, i + 1, '.')) {
    const resolve =
      is(tokens, i + 2, 'meta') && is(tokens, i + 4, 'resolve') && is(tokens, i + 5, '(');
    if (!resolve) return undefined;
    return { kind: 'resolve', specifier: argument(tokens, i + 5), line, names: [] };
  }
  if (tokens[i + 1]?.kind === 'string') {
    return { kind: 'side-effect', specifier: literal(tokens, i + 1), line, names: [] };
  }
  const clause = readClause(tokens, i + 1);
  if (clause === undefined) return undefined;
  if (!is(tokens, clause.end, 'from')) return undefined;
  const kind = clause.typeOnly ? 'type' : 'static';
  return { kind, specifier: literal(tokens, clause.end + 1), line, names: clause.names };
}

function exportAt(tokens: readonly Token[], i: number): ImportRef | undefined {
  const line = tokens[i]?.line ?? 0;
  const typeOnly = is(tokens, i + 1, 'type') && (is(tokens, i + 2, '{') || is(tokens, i + 2, '*'));
  const at = typeOnly ? i + 2 : i + 1;
  if (!is(tokens, at, '{') && !is(tokens, at, '*')) return undefined;
  const clause = readClause(tokens, at);
  if (clause === undefined || !is(tokens, clause.end, 'from')) return undefined;
  const specifier = literal(tokens, clause.end + 1);
  return { kind: typeOnly ? 'type' : 'static', specifier, line, names: clause.names };
}

interface Clause {
  readonly names: ImportedName[];
  readonly typeOnly: boolean;
  /** Index of the token after the clause. */
  readonly end: number;
}

/** `type? default? , * as ns | { a, b as c }`. */
function readClause(tokens: readonly Token[], start: number): Clause | undefined {
  const names: ImportedName[] = [];
  let at = start;
  const word = tokens[at];
  // `import type from './x'` binds a default named "type"; `import type X from` does not.
  const modifier =
    word?.kind === 'name' &&
    (word.text === 'type' || word.text === 'defer' || word.text === 'source') &&
    !is(tokens, at + 1, ',') &&
    !is(tokens, at + 1, '=') &&
    (!is(tokens, at + 1, 'from') || is(tokens, at + 2, 'from'));
  if (modifier) at++;
  const typeOnly = modifier && word.text === 'type';
  const first = tokens[at];
  if (first?.kind === 'name') {
    names.push({ imported: 'default', local: first.text });
    at++;
    if (is(tokens, at, ',')) at++;
  }
  if (is(tokens, at, '*')) {
    if (!is(tokens, at + 1, 'as')) return { names, typeOnly, end: at + 1 };
    names.push({ imported: '*', local: tokens[at + 2]?.text ?? '' });
    return { names, typeOnly, end: at + 3 };
  }
  if (is(tokens, at, '{')) {
    const end = readNamed(tokens, at + 1, names);
    return end === undefined ? undefined : { names, typeOnly, end };
  }
  return names.length > 0 ? { names, typeOnly, end: at } : undefined;
}

function readNamed(
  tokens: readonly Token[],
  start: number,
  names: ImportedName[],
): number | undefined {
  let words: string[] = [];
  for (let at = start; at < tokens.length; at++) {
    const token = tokens[at];
    if (token === undefined) return undefined;
    const end = is(tokens, at, '}');
    if (end || is(tokens, at, ',')) {
      if (words.length > 1 && words[0] === 'type' && words[1] !== 'as') words = words.slice(1);
      const imported = words[0];
      if (imported !== undefined) names.push({ imported, local: words.at(-1) ?? imported });
      words = [];
      if (end) return at + 1;
    } else if (token.kind === 'name' || token.kind === 'string') words.push(token.text);
    else return undefined;
  }
  return undefined;
}

/** A computed URL is a data file's (testdata, fixtures), unless a Worker is started from it. */
function urlAt(tokens: readonly Token[], i: number): ImportRef | undefined {
  if (!is(tokens, i + 1, 'URL') || !is(tokens, i + 2, '(')) return undefined;
  const close = matching(tokens, i + 2);
  const end = is(tokens, close - 1, ',') ? close - 1 : close;
  const tail = [',', 'import', '.', 'meta', '.', 'url'];
  if (!tail.every((text, k) => is(tokens, end - tail.length + k, text))) return undefined;
  const specifier = end - tail.length === i + 4 ? literal(tokens, i + 3) : undefined;
  const started = is(tokens, i - 2, 'Worker');
  if (specifier === undefined && !started) return undefined;
  return { kind: 'url', specifier, line: tokens[i]?.line ?? 0, names: [] };
}

function requireAt(tokens: readonly Token[], i: number): ImportRef | undefined {
  const line = tokens[i]?.line ?? 0;
  const resolve = is(tokens, i + 1, '.') && is(tokens, i + 2, 'resolve') && is(tokens, i + 3, '(');
  const openAt = resolve ? i + 3 : i + 1;
  if (!is(tokens, openAt, '(') || isMethodDeclaration(tokens, openAt)) return undefined;
  const kind = resolve ? 'resolve' : 'require';
  return { kind, specifier: argument(tokens, openAt), line, names: [] };
}

/** Index of the parenthesis that closes the one at openAt. */
function matching(tokens: readonly Token[], openAt: number): number {
  let depth = 0;
  for (let i = openAt; i < tokens.length; i++) {
    if (tokens[i]?.kind !== 'punct') continue;
    if (is(tokens, i, '(')) depth++;
    else if (is(tokens, i, ')') && --depth === 0) return i;
  }
  return tokens.length;
}

/** `name(…) {` and `name(…): T` declare a method of that name; they call nothing. */
export function isMethodDeclaration(tokens: readonly Token[], openAt: number): boolean {
  const before = tokens[openAt - 2];
  const statement =
    before === undefined ||
    [';', '{', '}', ',', 'async', 'static', 'get', 'set', 'readonly', '*', 'function'].includes(
      before.text,
    );
  if (!statement) return false;
  const close = matching(tokens, openAt);
  return is(tokens, close + 1, '{') || is(tokens, close + 1, ':');
}

// Finds uses of named globals among tokens: the bare name, and globalThis.name / global.name /
// self.name / window.name. A property (`clock.setTimeout`), an object key, a type member and a
// method declaration of that name are no uses. Scopes are not tracked: a local variable that
// shadows a banned global counts as a use, and is better renamed anyway.

import { isMethodDeclaration } from './imports.ts';
import type { Token } from './lex.ts';

export interface GlobalUse {
  readonly name: string;
  readonly line: number;
  /** Index of the name among the tokens. */
  readonly at: number;
}

const GLOBAL_OBJECTS: ReadonlySet<string> = new Set(['globalThis', 'global', 'self', 'window']);

export function globalUses(tokens: readonly Token[], names: readonly string[]): GlobalUse[] {
  const wanted = new Set(names);
  const uses: GlobalUse[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at];
    if (token?.kind === 'name' && wanted.has(token.text) && isGlobal(tokens, at)) {
      uses.push({ name: token.text, line: token.line, at });
    }
    const key = computedGlobal(tokens, at);
    if (key !== undefined && (key === '?' || wanted.has(key))) {
      uses.push({ name: key, line: token?.line ?? 0, at });
    }
  }
  return uses;
}

function isGlobal(tokens: readonly Token[], at: number): boolean {
  const before = tokens[at - 1];
  const after = tokens[at + 1];
  if (before?.kind === 'punct' && (before.text === '.' || before.text === '?.')) {
    const object = tokens[at - 2];
    const deeper = tokens[at - 3]?.text === '.' || tokens[at - 3]?.text === '?.';
    return object?.kind === 'name' && GLOBAL_OBJECTS.has(object.text) && !deeper;
  }
  const optionalKey = after?.text === '?' && tokens[at + 2]?.text === ':';
  if (optionalKey) return false;
  if (after?.kind === 'punct' && after.text === ':') {
    return before?.text === '?' || before?.text === 'case';
  }
  if (after?.kind === 'punct' && after.text === '(') return !isMethodDeclaration(tokens, at + 1);
  return true;
}

/** `globalThis['name']`; '?' when the key is computed, which could be any of them. */
function computedGlobal(tokens: readonly Token[], at: number): string | undefined {
  const token = tokens[at];
  const before = tokens[at - 1];
  const object = token?.kind === 'name' && token.text === 'globalThis' && before?.text !== '.';
  if (!object) return undefined;
  const open = tokens[at + 1]?.text === '?.' ? at + 2 : at + 1;
  if (tokens[open]?.kind !== 'punct' || tokens[open]?.text !== '[') return undefined;
  const key = tokens[open + 1];
  const literal = key?.kind === 'string' && tokens[open + 2]?.text === ']';
  return literal ? key.text : '?';
}

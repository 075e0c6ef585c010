// Patterns over bench names: `*` any run of characters, slashes included (`engine/*` means every
// engine shape, however deep), `?` one character, `{a,b}` alternatives, a comma-free name matches
// itself. Everything else is literal.

const MAX_PATTERN_LENGTH = 500;

export function compileNameGlob(pattern: string): (name: string) => boolean {
  const expression = new RegExp(`^${translate(pattern)}$`);
  return (name) => expression.test(name);
}

/**
 * Whether any name inside `folder` could match: lets a run skip loading unrelated bench files, so
 * that a broken package elsewhere does not stop it.
 */
export function couldMatchInside(pattern: string, folder: string): boolean {
  const literal = pattern.slice(0, firstSpecial(pattern));
  const prefix = `${folder}/`;
  return literal.startsWith(prefix) || prefix.startsWith(literal);
}

function firstSpecial(pattern: string): number {
  const at = pattern.search(/[*?{]/);
  return at === -1 ? pattern.length : at;
}

function translate(pattern: string): string {
  if (pattern.length > MAX_PATTERN_LENGTH) throw new Error('bench pattern is too long');
  let expression = '';
  let open = false;
  for (const character of pattern) {
    if (character === '*') expression += '.*';
    else if (character === '?') expression += '.';
    else if (character === '{' && !open) [expression, open] = [`${expression}(?:`, true];
    else if (character === '}' && open) [expression, open] = [`${expression})`, false];
    else if (character === ',' && open) expression += '|';
    else if (character === '{' || character === '}') throw new Error(`bad braces in '${pattern}'`);
    else expression += character.replace(/[\\^$.|+()[\]]/, '\\$&');
  }
  if (open) throw new Error(`bad braces in '${pattern}'`);
  return expression;
}

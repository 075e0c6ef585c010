// Certificate verification is never switched off. A relaxed test helper that leaks into
// production accepts any peer as any shard, so only fixtures under test/ may contain it, and a
// value that is not literally `true` is refused too: a variable can be false.

import type { Token } from '../lex.ts';
import type { Finding, Rule } from '../rule.ts';
import { isSource, type TreeFile } from '../tree.ts';

export const tlsVerify: Rule = {
  id: 'tls-verify',
  forbids: 'rejectUnauthorized other than literal true; NODE_TLS_REJECT_UNAUTHORIZED',
  instead: 'trust the right CA; a deliberately broken peer belongs under test/**/fixtures/',
  scope: (path) => isSource(path) && !path.startsWith('tools/walls/'),
  inspect: inspectTls,
};

const FIXTURE = /^test\/(?:.*\/)?fixtures\//;
const TYPES: readonly string[] = ['boolean', 'true'];

function inspectTls(file: TreeFile): Finding[] {
  if (FIXTURE.test(file.path)) return [];
  return (file.source?.tokens ?? []).flatMap((token, at, tokens) => {
    if (token.text.includes('NODE_TLS_REJECT_UNAUTHORIZED')) {
      return [{ line: token.line, message: 'names NODE_TLS_REJECT_UNAUTHORIZED' }];
    }
    const key = token.kind === 'name' || token.kind === 'string';
    if (!key || token.text !== 'rejectUnauthorized' || isVerified(tokens, at)) return [];
    return [{ line: token.line, message: 'rejectUnauthorized is not literally true' }];
  });
}

function isVerified(tokens: readonly Token[], at: number): boolean {
  let next = at + 1;
  if (tokens[next]?.text === ']') next++;
  if (tokens[next]?.text === '?') next++;
  const operator = tokens[next]?.text ?? '';
  const value = tokens[next + 1]?.text ?? '';
  if (operator === ':' || operator === '=') {
    const end = tokens[next + 2]?.text ?? ';';
    return TYPES.includes(value) && [',', ';', '}', ')', '='].includes(end);
  }
  // Reading or comparing it is fine; a shorthand property would pass an unknown value on.
  return tokens[at - 1]?.text === '.';
}

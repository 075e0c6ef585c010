// For tests: a strict logfmt reader, written from the grammar and not from our writer.

import assert from 'node:assert/strict';

const PAIR = /([a-zA-Z][a-zA-Z0-9_.]*)=("(?:[^"\\]|\\.)*"|[^\s"=\\]*)( |$)/uy;
const ESCAPE = /\\(?:u\{([0-9a-f]+)\}|u([0-9a-f]{4})|(.))/gu;
const SHORT: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\' };

export function parseLogfmt(line: string): Record<string, string> {
  const record: Record<string, string> = {};
  PAIR.lastIndex = 0;
  for (let end: string | undefined = ' '; end === ' '; ) {
    const match = PAIR.exec(line);
    assert.ok(match !== null, `not logfmt: ${line}`);
    const [, key = '', raw = ''] = match;
    assert.ok(!Object.hasOwn(record, key), `key twice: ${key}`);
    record[key] = raw.startsWith('"') ? unescape(raw.slice(1, -1)) : raw;
    end = match[3];
  }
  return record;
}

function unescape(text: string): string {
  return text.replace(ESCAPE, (_, long?: string, four?: string, short?: string) => {
    const code = long ?? four;
    if (code !== undefined) return String.fromCodePoint(Number.parseInt(code, 16));
    const character = SHORT[short ?? ''];
    assert.ok(character !== undefined, `unknown escape \\${short}`);
    return character;
  });
}

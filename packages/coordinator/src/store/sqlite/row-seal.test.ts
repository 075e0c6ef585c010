// Proves that no single changed character of a stored row, key or checksum passes for the row that was
// written, and that rows of before are read as they are.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseJson } from '../../state/json-codec.ts';
import { sealed, unsealed } from './row-seal.ts';

const row = fc.record({
  key: fc.string({ minLength: 1, unit: 'binary' }),
  json: fc.json().filter((json) => !json.includes('\n')),
});

test('what was sealed comes back', () => {
  fc.assert(
    fc.property(row, ({ key, json }) => {
      assert.equal(unsealed(key, sealed(key, json)), json);
      assert.equal(unsealed(`${key}x`, sealed(key, json)), undefined);
    }),
  );
});

function isRefused(key: string, stored: string): boolean {
  const json = unsealed(key, stored);
  if (json === undefined) return true;
  try {
    parseJson(json, { at: key, unknownKeys: 'refuse' });
    return false;
  } catch {
    return true;
  }
}

test('every flipped bit of a row is refused', () => {
  const key = 'domains/zone/a';
  const stored = sealed(key, '{"key":"zone","value":"a","shardId":"shard-0","uid":1,"n":null}');
  const bytes = Buffer.from(stored);
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const damaged = Buffer.from(bytes);
    damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    assert.ok(isRefused(key, damaged.toString('utf8')), `bit ${bit}: ${damaged.toString()}`);
  }
});

test('a row of before is read as it is', () => {
  assert.equal(unsealed('k', '{"a":1}'), '{"a":1}');
  assert.equal(unsealed('k', ''), '');
});

// Proves that a secret shows nothing of itself however it is rendered.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { format, inspect } from 'node:util';
import { Secret } from './secret.ts';

const secret = new Secret({ token: 'hunter2' });

const renderings: readonly [string, () => string][] = [
  ['String', () => String(secret)],
  ['coercion', () => [secret, secret].join()],
  ['JSON', () => JSON.stringify(secret)],
  ['nested JSON', () => JSON.stringify({ a: [secret] })],
  ['inspect', () => inspect(secret)],
  ['deep inspect', () => inspect({ a: { b: secret } }, { depth: 10, showHidden: true })],
  ['inspect without custom', () => inspect(secret, { customInspect: false, showHidden: true })],
  ['format', () => format('%s %o %j', secret, secret, secret)],
  ['keys', () => Reflect.ownKeys(secret).map(String).join()],
  ['assign', () => JSON.stringify(Object.assign({}, secret))],
  ['entries', () => JSON.stringify(Object.entries(secret))],
  ['clone', () => inspect(structuredClone(secret))],
  ['error message', () => inspect(new Error(`cannot configure with ${String(secret)}`))],
];

for (const [how, render] of renderings) {
  test(`hidden from ${how}`, () => {
    assert.doesNotMatch(render(), /hunter2/);
  });
}

test('reads [redacted], and gives the value only when asked by name', () => {
  assert.equal(String(secret), '[redacted]');
  assert.equal(JSON.stringify(secret), '"[redacted]"');
  assert.equal(inspect(secret), '[redacted]');
  assert.deepEqual(secret.reveal(), { token: 'hunter2' });
});

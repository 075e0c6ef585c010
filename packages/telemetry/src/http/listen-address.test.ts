// Proves which spellings of a listen address are understood, and that all others are refused.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatAddress, parseListenAddress } from './listen-address.ts';

const good: readonly [string, string | undefined, number][] = [
  [':8780', undefined, 8780],
  [':0', undefined, 0],
  ['127.0.0.1:8780', '127.0.0.1', 8780],
  ['localhost:65535', 'localhost', 65535],
  ['[::1]:0', '::1', 0],
  ['[fe80::1%eth0]:80', 'fe80::1%eth0', 80],
];

for (const [text, host, port] of good) {
  test(`${text} is understood`, () => {
    const parsed = parseListenAddress(text);
    assert.deepEqual(parsed, { ok: true, value: { kind: 'listen', host, port } });
    assert.equal(formatAddress(host ?? '', port), text);
  });
}

for (const text of ['', '0']) {
  test(`${JSON.stringify(text)} disables`, () => {
    assert.deepEqual(parseListenAddress(text), { ok: true, value: { kind: 'disabled' } });
  });
}

const bad = [
  '8780',
  ':',
  'host',
  'host:',
  ':65536',
  ':-1',
  ':08780x',
  '::1:80',
  '[::1]',
  '[]:80',
  '[host]:80',
  'http://host:80',
  'user@host:80',
  'a b:80',
  ':80 ',
  '\n:80',
  '00',
];

for (const text of bad) {
  test(`${JSON.stringify(text)} is refused with the right forms`, () => {
    const parsed = parseListenAddress(text);
    assert.ok(!parsed.ok);
    assert.match(parsed.error, /:8780, host:8780 or \[::1\]:8780/);
  });
}

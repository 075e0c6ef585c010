// Proves which bench names a pattern selects and which files it needs to load.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileNameGlob, couldMatchInside } from './name-glob.ts';

const cases: readonly [pattern: string, name: string, matches: boolean][] = [
  ['*', 'wire/unary', true],
  ['wire/*', 'wire/unary', true],
  ['wire/*', 'wire', false],
  ['engine/*', 'engine/cycle/steady/500k/full', true],
  ['engine/*/full', 'engine/cycle/steady/500k/full', true],
  ['engine/*/full', 'engine/cycle/steady/500k/steady', false],
  ['provider/list-delta/{5k,500k}', 'provider/list-delta/500k', true],
  ['provider/list-delta/{5k,500k}', 'provider/list-delta/50k', false],
  ['wire/{unary,b*}', 'wire/bidi', true],
  ['wire/bid?', 'wire/bidi', true],
  ['wire/bid?', 'wire/bid', false],
  ['wire/unary', 'wire/unary', true],
  ['wire/unary', 'wire/unary-tls', false],
  ['unary', 'wire/unary', false],
  ['wire.unary', 'wire/unary', false],
  ['w+(x)[y]', 'w+(x)[y]', true],
];

test('patterns', () => {
  for (const [pattern, name, matches] of cases) {
    assert.equal(compileNameGlob(pattern)(name), matches, `${pattern} over ${name}`);
  }
});

test('unbalanced braces and endless patterns are refused', () => {
  for (const pattern of ['{a', 'a}', '{a{b}}', '*'.repeat(501)]) {
    assert.throws(() => compileNameGlob(pattern), Error, pattern.slice(0, 10));
  }
});

test('a folder is skipped only when none of its names could match', () => {
  const folders: readonly [pattern: string, folder: string, loads: boolean][] = [
    ['*', 'wire', true],
    ['wire/*', 'wire', true],
    ['wire/*', 'base', false],
    ['wire/*', 'wire/tls', true],
    ['wire/tls/a', 'wire', true],
    ['w*', 'wire', true],
    ['{wire,base}/*', 'base', true],
    ['wirex/*', 'wire', false],
  ];
  for (const [pattern, folder, loads] of folders) {
    assert.equal(couldMatchInside(pattern, folder), loads, `${pattern} in ${folder}`);
  }
});

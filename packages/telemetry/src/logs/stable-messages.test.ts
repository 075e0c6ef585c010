// Proves that the catalogue of stable messages has no text twice and only usable keys.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as stableMessages from './stable-messages.ts';

const messages = Object.values(stableMessages).filter((value) => typeof value === 'object');

test('texts are unique and one line, keys are unique and snake case', () => {
  assert.ok(messages.length >= 30, `${messages.length} messages`);
  assert.equal(new Set(messages.map((message) => message.text)).size, messages.length);
  for (const { text, keys, optional } of messages) {
    assert.match(text, /^[^\p{C}"]+$/u);
    const all: readonly string[] = [...keys, ...optional];
    assert.equal(new Set(all).size, all.length, text);
    for (const key of all) assert.match(key, /^[a-z][a-z_]*$/);
  }
});

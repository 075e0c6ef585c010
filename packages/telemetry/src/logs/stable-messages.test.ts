// Proves that the catalogue of stable messages has no text twice; the type M holds its keys to snake case.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as stableMessages from './stable-messages.ts';

const messages = Object.values(stableMessages).filter((value) => typeof value === 'object');

test('texts are unique and one line', () => {
  assert.ok(messages.length >= 30, `${messages.length} messages`);
  assert.equal(new Set(messages.map((message) => message.text)).size, messages.length);
  for (const { text } of messages) assert.match(text, /^[^\p{C}"]+$/u);
});

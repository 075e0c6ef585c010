// Proves that the what-if form and its URL are the same question, and that the command line asks it too.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseChange } from '@bigfleet/engine';
import {
  CHANGE_FORMS,
  commandOf,
  lineOf,
  PRESETS,
  questionOf,
  rowsOf,
  setOf,
  wrongOf,
} from './what-if-changes.ts';

test('every preset is a change that the engine takes, in its own spelling', () => {
  for (const { set } of PRESETS) {
    assert.deepEqual(rowsOf(set).map(wrongOf), ['']);
    assert.equal(setOf(rowsOf(set)), set);
  }
});

test('every form has an example that the engine takes', () => {
  for (const form of CHANGE_FORMS) {
    const [value = ''] = form.value.example.split(' or ');
    const subject = form.subject?.isOptional === false ? 'spot' : '';
    const line = lineOf({ name: form.name, subject, value });
    assert.ok(parseChange(line).ok, line);
  }
});

test('the rows of a URL are the URL of the rows', () => {
  const set = 'reserved=-20%\nprice:spot=×1.4\nlose-zone=zone-a@6h\ndemand:blue=×1.3';
  assert.equal(setOf(rowsOf(set)), set);
  assert.equal(setOf(rowsOf('price:spot=x1.40\n\n  clusters=+8 ')), 'price:spot=×1.4\nclusters=+8');
});

test('a line that is no change keeps its text and says what would be right', () => {
  const [row] = rowsOf('reserved:=20');
  assert.ok(row !== undefined);
  assert.notEqual(wrongOf(row), '');
  assert.notEqual(wrongOf({ name: 'nonsense', subject: '', value: '' }), '');
});

test('the command line quotes what a shell would take apart', () => {
  assert.equal(
    commandOf("reserved=-20%\nprice:spot=×1.4\ndemand:a'b=×2", 7),
    `bigfleet what-if --records-dir=<directory> --set=reserved=-20% --set='price:spot=×1.4' --set='demand:a'\\''b=×2' --seed=7`,
  );
});

test('a question is named by its label when it is a ready one, and by its changes otherwise', () => {
  assert.equal(questionOf('reserved=-20%'), '20 % fewer reserved');
  assert.equal(questionOf('reserved=-20%\nclusters=+8\n'), 'reserved=-20%, clusters=+8');
});

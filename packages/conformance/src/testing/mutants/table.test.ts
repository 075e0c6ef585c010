// Proves that docs/internals/conformance-mutants.md says what the registry says.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { markdown } from './report/markdown.ts';
import { mutantGroups } from './set/index.ts';

const page = new URL('../../../../../docs/internals/conformance-mutants.md', import.meta.url);

test('the page is the one that --markdown prints', () => {
  const hint = 'write it again: node packages/conformance/src/testing/mutants/main.ts --markdown';
  assert.equal(readFileSync(page, 'utf8'), markdown(mutantGroups), hint);
});

// Proves that every wall fails on a planted violation at its exact place, stays quiet on a clean
// tree, and turns red when it sees fewer files than the tree holds.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cleanTree, HARMLESS, PLANTED } from './testing/planted.ts';
import type { Violation } from './rule.ts';
import { RULES } from './rules/index.ts';
import { runRules } from './run.ts';
import { buildTree } from './tree.ts';

function violations(texts: ReadonlyMap<string, string>, listing?: readonly string[]): Violation[] {
  const results = runRules(RULES, buildTree(texts), listing ?? [...texts.keys()]);
  return results.flatMap((result) => result.violations);
}

test('a clean tree passes every wall', () => {
  const texts = new Map([...cleanTree(), ...Object.entries(HARMLESS)]);
  assert.deepEqual(violations(texts), []);
});

test('every wall fails on its planted violations, at their place', async (t) => {
  for (const { rule, what, files, at } of PLANTED) {
    await t.test(`${rule}: ${what}`, () => {
      const found = violations(new Map([...cleanTree(), ...Object.entries(files)]));
      const places = found.filter((one) => one.rule === rule).map((v) => `${v.file}:${v.line}`);
      assert.ok(places.includes(at), `expected ${at}, found ${JSON.stringify(found, null, 1)}`);
    });
  }
});

test('every wall has a planted violation', () => {
  const planted = new Set(PLANTED.map(({ rule }) => rule));
  assert.deepEqual([...planted].sort(), RULES.map(({ id }) => id).sort());
});

test('a wall that sees fewer files than the tree holds fails', () => {
  for (const rule of RULES) {
    const texts = cleanTree();
    const hidden = [...texts.keys()].filter(rule.scope).at(-1);
    assert.ok(hidden !== undefined, `${rule.id} has no file in the clean tree`);
    const listing = [...texts.keys()];
    texts.delete(hidden);
    const [result] = runRules([rule], buildTree(texts), listing);
    const blind = result?.violations.filter((v) => /did not see/.test(v.message)) ?? [];
    assert.deepEqual(
      blind.map(({ file }) => file),
      [hidden],
      rule.id,
    );
  }
});

test('a wall whose scope is empty fails', () => {
  for (const rule of RULES) {
    const [result] = runRules([rule], buildTree(new Map()), []);
    assert.match(result?.violations[0]?.message ?? '', /holds no file/, rule.id);
  }
});

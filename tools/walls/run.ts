// Applies the walls to a tree and compares what each saw with an independent listing. A wall
// that inspected fewer files than exist, or none at all, is a violation by itself: a checker
// that goes blind must turn red, not green.

import type { Rule, RuleResult, Violation } from './rule.ts';
import type { Tree } from './tree.ts';

export function runRules(
  rules: readonly Rule[],
  tree: Tree,
  listing: readonly string[],
): RuleResult[] {
  return rules.map((rule) => runRule(rule, tree, listing));
}

function runRule(rule: Rule, tree: Tree, listing: readonly string[]): RuleResult {
  const violations: Violation[] = [];
  const seen = new Set<string>();
  for (const file of tree.files.values()) {
    if (!rule.scope(file.path)) continue;
    for (const finding of rule.inspect(file, tree)) {
      violations.push({ rule: rule.id, file: file.path, ...finding });
    }
    seen.add(file.path);
  }
  const expected = listing.filter(rule.scope);
  for (const file of expected) {
    if (seen.has(file)) continue;
    violations.push({ rule: rule.id, file, line: 1, message: 'this wall did not see the file' });
  }
  if (expected.length === 0) {
    const message = 'the tree holds no file for this wall: its scope is wrong or the tree is';
    violations.push({ rule: rule.id, file: '.', line: 0, message });
  }
  return { rule, seen: seen.size, expected: expected.length, violations };
}

/**
 * The walls' report as text: one line per wall, then each violation as file:line with what is
 * forbidden and what to do instead, so that a reader needs no other page to fix it.
 */
export function formatResults(results: readonly RuleResult[]): string {
  const lines: string[] = [];
  for (const { rule, seen, expected, violations } of results) {
    const verdict = violations.length === 0 ? 'ok  ' : 'FAIL';
    const files = seen === expected ? `${seen} files` : `${seen} of ${expected} files`;
    lines.push(`${verdict} ${rule.id.padEnd(28)} ${files}`);
    if (violations.length === 0) continue;
    lines.push(`     forbidden: ${rule.forbids}`, `     instead: ${rule.instead}`);
    for (const { file, line, message } of violations) lines.push(`     ${file}:${line} ${message}`);
  }
  const count = results.reduce((sum, result) => sum + result.violations.length, 0);
  lines.push(`walls: ${results.length} checked, ${count} violations`);
  return `${lines.join('\n')}\n`;
}

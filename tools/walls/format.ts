// The walls' report as text: one line per wall, then each violation as file:line with what is
// forbidden and what to do instead, so that a reader needs no other page to fix it.

import type { RuleResult } from './rule.ts';

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

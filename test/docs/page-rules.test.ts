// Proves the rules that pages of a kind keep: an internals page opens with the question that it answers,
// names files of our tree and ends with its divergences; every section with numbers says under which
// conditions they were measured.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { ROOT, textOf } from './pages.ts';

/** Its subject is not built yet (docs/plan.md). */
const WAITING = new Set(['scaletest-harness.md']);

/** Pages that the specification asks for, and those of subsystems that came after it. */
const INTERNALS = [
  ...new Set([
    ...(textOf('docs/spec/documentation.md')
      .split('## 3. Internals')[1]
      ?.split('\n## ')[0]
      ?.match(/(?<=`)[a-z0-9-]+\.md(?=`)/g) ?? []),
    'dashboard.md',
  ]),
].filter((name) => name !== 'index.md' && !WAITING.has(name));

test('the specification names internals pages, and what waits is still missing', () => {
  assert.ok(INTERNALS.length > 15, INTERNALS.join(' '));
  for (const name of WAITING) {
    assert.ok(!existsSync(path.join(ROOT, 'docs/internals', name)), `${name} waits no longer`);
  }
});

for (const name of INTERNALS) {
  test(`docs/internals/${name} opens with its question, names files and ends with Divergences`, () => {
    assert.deepEqual(internalsProblems(textOf(`docs/internals/${name}`)), []);
  });
}

test('a page without each of these is found', () => {
  const page =
    '# X\n\n*Why?* See `packages/x.ts`, [the index](../index.md).\n\n## Divergences\n\nNone.\n';
  assert.deepEqual(internalsProblems(page), []);
  const spoilt = [
    page.replace('*Why?*', 'Why.'),
    page.replace('`packages/x.ts`', 'a file'),
    page.replace('../index.md', '../plan.md'),
    page.replace('None.\n', ''),
    `${page}\n## More\n`,
  ];
  assert.deepEqual(
    spoilt.map((each) => internalsProblems(each).length),
    [1, 1, 1, 1, 1],
  );
});

function internalsProblems(page: string): string[] {
  const [, opening = ''] = page.replace(/<!--.*?-->\n\n/g, '').split('\n\n');
  const [last = ''] = page.split('\n## ').slice(-1);
  const rules: readonly (readonly [boolean, string])[] = [
    [/^\*[^*]+\?\*/.test(opening), 'it opens with no question'],
    [/`(?:packages|test|tools|bench|deploy)\/[^`]+`/.test(page), 'it names no file of our tree'],
    [page.includes('](../index.md)'), 'it does not link to the order of authority'],
    [/^Divergences\n\n\S/.test(last), 'it does not end with its divergences'],
  ];
  return rules.filter(([holds]) => !holds).map(([, problem]) => problem);
}

test('every section of numbers has a row of conditions: command, date, commit, load', () => {
  const page = textOf('docs/performance.md');
  const [, conditions = ''] = page.split('## Conditions\n');
  const rows = (conditions.split('\n## ')[0] ?? '')
    .split('\n')
    .filter((row) => /^\| (?!-|Section)/.test(row));
  const sections = page
    .split('\n## ')
    .slice(1)
    .filter((text) => text.includes('\n|---'));
  const names = sections
    .map((text) => text.split('\n')[0] ?? '')
    .filter((name) => name !== 'Conditions');
  assert.ok(names.length >= 5, names.join(', '));
  for (const name of names) {
    assert.ok(
      rows.some((row) => row.includes(`[${name}](#`)),
      `${name}: no row of conditions`,
    );
  }
  for (const row of rows)
    assert.match(row, /\| \d{4}-\d{2}-\d{2}, `[0-9a-f]{8}`.* \| \S.* \|$/, row);
  for (const what of [/\d+ virtual cores/, /\d+ GiB/, /Node \d+/, /seed `0x/]) {
    assert.match(conditions, what);
  }
});

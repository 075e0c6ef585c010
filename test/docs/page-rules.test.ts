// Proves the rules that pages keep: every page that the specification asks for exists, or its index says
// that it does not yet; an internals page opens with the question that it answers, names files of our tree
// and ends with its divergences; every section with numbers says under which conditions they were measured.

import assert from 'node:assert/strict';
import { existsSync, globSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { ROOT, textOf } from './pages.ts';

/** A page whose subject is not built (docs/plan.md), and the index that says so. */
const WAITING: Readonly<Record<string, string>> = {
  'docs/scaletest.md': 'docs/index.md',
  'docs/internals/scaletest-harness.md': 'docs/internals/index.md',
};

const [, PAGES = '', INTERNALS_TABLE = '', RECORDS = ''] = textOf(
  'docs/spec/documentation.md',
).split(/^## [2-4]\. .*$/m);

/** Lists that are generated or follow a list of the specification: they explain nothing. */
const LISTS = /^(?:index|conformance-mutants|(?:shard|coordinator)-acceptance)\.md$/;
const FOLDER = path.join(ROOT, 'docs/internals');
const INTERNALS = globSync('*.md', { cwd: FOLDER }).filter((name) => !LISTS.test(name));

test('every page that the specification asks for exists, or waits for its subject', () => {
  const asked = [
    ...(PAGES.match(/(?<=`)[A-Za-z0-9/-]+\.md(?=`)/g) ?? []),
    ...(INTERNALS_TABLE.match(/(?<=`)[a-z0-9-]+\.md(?=`)/g) ?? []).map(
      (name) => `docs/internals/${name}`,
    ),
  ];
  assert.ok(asked.length > 40, asked.join(' '));
  const missing = new Set(asked.filter((page) => !existsSync(path.join(ROOT, page))));
  assert.deepEqual(missing, new Set(Object.keys(WAITING)));
});

test('a page that waits is missing, and its index says so as Future:', () => {
  for (const [page, index] of Object.entries(WAITING)) {
    assert.ok(!existsSync(path.join(ROOT, page)), `${page} waits no longer`);
    const name = path.basename(page);
    assert.match(
      textOf(index),
      new RegExp(`Future:[^\\n]*${name}`),
      `${index} is silent on ${name}`,
    );
  }
});

test('every record whose number the specification keeps exists, or its index says Future:', () => {
  const numbers = [...RECORDS.matchAll(/^\|([^|]*\d{4}[^|]*)\|/gm)].flatMap(
    ([, cell = '']) => cell.match(/\d{4}/g) ?? [],
  );
  assert.ok(numbers.length >= 8, numbers.join(' '));
  const index = textOf('docs/adr/index.md');
  for (const number of numbers) {
    const isThere = globSync(`docs/adr/${number}-*.md`, { cwd: ROOT }).length === 1;
    assert.ok(isThere !== index.includes(`Future: ${number}`), `record ${number}`);
  }
});

test('the index of the internals lists every page of its folder', () => {
  const index = textOf('docs/internals/index.md');
  assert.ok(INTERNALS.length > 15, INTERNALS.join(' '));
  for (const name of globSync('*.md', { cwd: FOLDER })) {
    if (name !== 'index.md') assert.ok(index.includes(`](${name})`), `${name} is not listed`);
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

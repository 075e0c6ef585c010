// Proves that what charts hold twice is written from its source and checked against it: tables of values, names of
// a copied template's chart.

import assert from 'node:assert/strict';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { runCharts } from './run.ts';
import { renderTable, valueRows } from './values-table.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const TEMPLATE = 'providers/_template/deploy/helm/bigfleet-provider-template';
const folders: string[] = [];

after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** The charts and their sources, to spoil. */
function copy(): string {
  const root = mkdtempSync(path.join(tmpdir(), 'bigfleet-charts-'));
  folders.push(root);
  for (const part of ['deploy/helm', TEMPLATE]) {
    if (!existsSync(path.join(ROOT, part))) continue;
    cpSync(path.join(ROOT, part), path.join(root, part), { recursive: true });
  }
  return root;
}

test('the charts of this tree are what would be written', () => {
  assert.deepEqual(runCharts(ROOT, 'check').problems, []);
});

test('a value that the table does not have is found, and written', () => {
  const root = copy();
  const folder = path.join(root, 'deploy/helm/bigfleet');
  const values = path.join(folder, 'values.yaml');
  writeFileSync(values, `${readFileSync(values, 'utf8')}\n# Goes faster\nturbo: false\n`);
  const [problem] = runCharts(root, 'check').problems;
  assert.match(problem ?? '', /deploy\/helm\/bigfleet\/README\.md: differs from values\.yaml/);
  runCharts(root, 'write');
  const page = readFileSync(path.join(folder, 'README.md'), 'utf8');
  assert.ok(page.includes('| `turbo` | `false` | Goes faster |'));
});

test('a copied template gets the names of its folder', {
  skip: !existsSync(path.join(ROOT, TEMPLATE)),
}, () => {
  const root = copy();
  const helm = path.join(root, 'providers/acme-metal/deploy/helm');
  mkdirSync(helm, { recursive: true });
  cpSync(path.join(root, TEMPLATE), path.join(helm, 'bigfleet-provider-template'), {
    recursive: true,
  });
  const [problem] = runCharts(root, 'check').problems;
  assert.match(problem ?? '', /should be bigfleet-provider-acme-metal/);
  runCharts(root, 'write');
  assert.deepEqual(runCharts(root, 'check').problems, []);
  const chart = path.join(helm, 'bigfleet-provider-acme-metal');
  const text = (file: string): string => readFileSync(path.join(chart, file), 'utf8');
  assert.match(text('values.yaml'), /^acmeMetalBackend: auto$/m);
  assert.match(text('values.schema.json'), /"acmeMetalBackend"/);
  assert.match(
    text('templates/deployment.yaml'),
    /--acme-metal-backend=\{\{ \.Values\.acmeMetalBackend \}\}/,
  );
});

test('a value without a comment is refused, by its name', () => {
  const text = '# A group\ngroup:\n  inner: 1\nother:\n  # Said\n  known: 2\n  silent: 3\n';
  assert.throws(() => valueRows(text, 'values.yaml'), /no comment above other\.silent$/);
});

test('rows have the path, the default and the meaning', () => {
  const rows = valueRows('# One\n# two\na:\n  b: 1\nc:\n  # x | y\n  d: [1]\n', 'values.yaml');
  assert.deepEqual(rows, [
    { path: 'a', fallback: { b: 1 }, meaning: 'One two' },
    { path: 'c.d', fallback: [1], meaning: 'x | y' },
  ]);
  assert.match(renderTable(rows), /\| `c\.d` \| `\[1\]` \| x \\\| y \|/);
});

// Proves that no page prints a command, manifest or query that nobody checks: every block says what it
// is, every page with commands has a test that runs them, and what only a real cluster can run names
// programs, files, charts and values that exist.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { allBlocks, blocksOf, EXECUTED_BY, pageFiles, ROOT } from './pages.ts';
import { schemaProblems } from './values-schema.ts';

for (const page of pageFiles()) {
  test(`every block of ${page} says who checks it`, () => {
    const commands = blocksOf(page).filter(({ kind }) => /^(?:run|clone|serve)$/.test(kind));
    if (commands.length === 0) return;
    assert.ok(
      EXECUTED_BY[page] !== undefined,
      `no test runs its ${commands.length} blocks (pages.ts)`,
    );
  });
}

test('each test that is said to run a page exists and knows the page', () => {
  for (const [page, file] of Object.entries(EXECUTED_BY)) {
    const text = readFileSync(path.join(import.meta.dirname, file), 'utf8');
    const names = [path.basename(page), 'FLEET_PAGES', 'guideBlocks'];
    assert.ok(
      names.some((name) => text.includes(name)),
      `${file} does not run ${page}`,
    );
    assert.ok(existsSync(path.join(ROOT, page)), page);
  }
});

test('blocks for the clusters of the demo are run by the test of the quick start', () => {
  assert.ok(allBlocks('demo').length > 2);
  const text = readFileSync(path.join(import.meta.dirname, 'quick-start.long.ts'), 'utf8');
  assert.ok(text.includes("allBlocks('demo')"));
});

test('lanes on pages are targets of the Makefile', () => {
  const makefile = readFileSync(path.join(ROOT, 'Makefile'), 'utf8');
  for (const { page, block } of allBlocks('lane')) {
    for (const command of commandsOf(block.text)) {
      const [, target = ''] = /^make ([a-z-]+)/.exec(command) ?? [];
      assert.match(makefile, new RegExp(`^${target}:`, 'm'), `${page}:${block.line} ${command}`);
    }
  }
});

const clusterBlocks = [...allBlocks('kube'), ...allBlocks('demo')];

test('commands to a cluster use programs of a cluster and files that exist', () => {
  assert.ok(clusterBlocks.length > 5, `only ${clusterBlocks.length} blocks`);
  for (const { page, block } of clusterBlocks) {
    for (const command of commandsOf(block.text)) {
      const at = `${page}:${block.line} ${command}`;
      assert.match(command, /^(?:kubectl|helm|export [A-Z]+=)/, at);
      for (const [, file = ''] of command.matchAll(
        /(?:^| )(?:-f |\.\/)((?:api|demo|deploy)\/\S+)/g,
      )) {
        assert.ok(existsSync(path.join(ROOT, file)), at);
      }
    }
  }
});

test('values that are set on a command line are allowed by the schema of the chart', () => {
  let count = 0;
  for (const { page, block } of clusterBlocks) {
    for (const command of commandsOf(block.text)) {
      const chart = /deploy\/helm\/([a-z-]+)/.exec(command)?.[1];
      if (chart === undefined) continue;
      for (const [, key = '', value = ''] of command.matchAll(/--set (\S+?)=(\S+)/g)) {
        count += 1;
        const problems = schemaProblems(chart, nested(key, value));
        assert.deepEqual(problems, [], `${page}:${block.line} ${key}=${value}`);
      }
    }
  }
  assert.ok(count > 3, `only ${count} values`);
});

test('a value that the chart does not know is found', () => {
  assert.deepEqual(schemaProblems('bigfleet', { coordinator: { replicants: 3 } }), [
    'coordinator.replicants is not a value of the chart bigfleet',
  ]);
  assert.deepEqual(schemaProblems('bigfleet', { coordinator: { replicas: true } }), [
    'coordinator.replicas is a boolean and not an integer',
  ]);
});

/** Lines with their continuations, without comments. */
function commandsOf(text: string): string[] {
  return text
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => line.replace(/(?:^|\s+)#.*$/, '').trim())
    .filter((line) => line !== '');
}

/** `a.b=3` as helm reads it. */
function nested(key: string, value: string): unknown {
  const read: unknown = /^(?:true|false|\d+)$/.test(value) ? JSON.parse(value) : value;
  return key.split('.').reduceRight<unknown>((inner, part) => ({ [part]: inner }), read);
}

// Proves that the command sees a tree on disk as git does, prints counts and places, and exits
// 1 on a violation.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { cleanTree } from './testing/planted.ts';
import { RULES } from './rules/index.ts';
import { listIndependently, readTree } from './tree.ts';

function onDisk(t: TestContext, texts: ReadonlyMap<string, string>): string {
  const root = mkdtempSync(path.join(tmpdir(), 'walls-'));
  t.after(() => rmSync(root, { recursive: true }));
  for (const [file, text] of texts) {
    mkdirSync(path.join(root, path.dirname(file)), { recursive: true });
    writeFileSync(path.join(root, file), text);
  }
  return root;
}

function check(root: string): { readonly status: number | null; readonly output: string } {
  const command = path.join(import.meta.dirname, 'check.ts');
  const { status, stdout } = spawnSync(process.execPath, [command, root], { encoding: 'utf8' });
  return { status, output: stdout };
}

test('a clean tree on disk passes and every wall reports its count', (t) => {
  const { status, output } = check(onDisk(t, cleanTree()));
  assert.equal(status, 0, output);
  for (const { id } of RULES) assert.match(output, new RegExp(`ok +${id} +[1-9]\\d* files`));
  assert.match(output, /walls: \d+ checked, 0 violations\n$/);
});

test('a violation on disk is printed with its place and exits 1', (t) => {
  const texts = cleanTree().set('packages/shard/src/x.ts', '\nDate.now();\n');
  const { status, output } = check(onDisk(t, texts));
  assert.equal(status, 1);
  assert.match(output, /FAIL runtime-only/);
  assert.match(output, /packages\/shard\/src\/x\.ts:2 uses Date\.now/);
});

test('the walk and git list the same files, ignored and generated ones aside', (t) => {
  const texts = cleanTree()
    .set('.gitignore', 'dist/\nnode_modules/\n')
    .set('packages/base/dist/index.js', '')
    .set('node_modules/left-pad/index.js', '')
    .set('tools/x/fixtures/bad.ts', 'Date.now(')
    .set('bench/results/latest.json', '{}');
  const root = onDisk(t, texts);
  const byGlob = listIndependently(root).sort();
  execFileSync('git', ['init', '--quiet'], { cwd: root });
  const byGit = listIndependently(root).sort();
  const walked = [...readTree(root).files.keys()].sort();
  assert.deepEqual(byGit, walked);
  assert.ok(walked.length >= cleanTree().size);
  assert.deepEqual(
    walked.filter((file) => /dist|node_modules|fixtures\/bad|results/.test(file)),
    [],
  );
  // Outside a repository the glob is the second opinion; it does not list dot files.
  assert.deepEqual(
    byGlob,
    walked.filter((file) => file !== '.gitignore'),
  );
});

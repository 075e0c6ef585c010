// Proves with the real oxlint and our own configuration that the rules which matter fire on
// planted code, and that deliberate exceptions stay quiet. A linter that loses its type
// information reports nothing and exits 0, so this is the only sign that it still sees.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';

const ROOT = path.join(import.meta.dirname, '..');

const SHARD_FILE = [
  "import type { Server } from 'node:http';",
  "import { test } from 'node:test';",
  'export async function work(): Promise<number> {',
  '  return 1;',
  '}',
  'export function start(listeners: Array<() => void>, server: Server): void {',
  '  work(); // no-floating-promises',
  '  void work(); // no-floating-promises',
  '  listeners.push(async () => { await work(); }); // no-misused-promises',
  '  server.close();',
  '}',
  'export async function wait(one: number): Promise<void> {',
  '  await one; // await-thenable',
  '}',
  'export const now: number = Date.now(); // no-restricted-properties',
  'export const roll: number = Math.random(); // no-restricted-properties',
  'globalThis.setTimeout(() => {}, 1); // no-restricted-properties',
  'setTimeout(() => {}, 1); // no-restricted-globals',
  'export const loose = (a: string, b: string): boolean => a == b; // eqeqeq',
  'export const anything: any = 1; // no-explicit-any',
  'const unused = 1; // no-unused-vars',
  "type Kind = 'a' | 'b';",
  'export function name(kind: Kind): string {',
  '  switch (kind) { // switch-exhaustiveness-check',
  "    case 'a':",
  "      return 'A';",
  '  }',
  "  return '';",
  '}',
  "test('known-safe calls of node:test', () => {});",
  '',
].join('\n');

const CLOCKS = 'export const now: number = Date.now();\nsetTimeout(() => {}, 1);\n';
const HUSHED = '// oxlint-disable-next-line no-var\nexport const quiet: number = 1;\n';

interface Diagnostic {
  readonly code: string;
  readonly filename: string;
  readonly labels: ReadonlyArray<{ readonly span: { readonly line: number } }>;
}

function plant(t: TestContext): string {
  const root = mkdtempSync(path.join(tmpdir(), 'lint-'));
  t.after(() => rmSync(root, { recursive: true }));
  const write = (file: string, text: string): void => {
    mkdirSync(path.join(root, path.dirname(file)), { recursive: true });
    writeFileSync(path.join(root, file), text);
  };
  for (const file of ['.oxlintrc.json', '.gitignore', 'tsconfig.base.json']) {
    copyFileSync(path.join(ROOT, file), path.join(root, file));
  }
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(root, 'node_modules'));
  write('tsconfig.json', '{ "extends": "./tsconfig.base.json", "include": ["**/*.ts"] }');
  write('packages/shard/src/planted.ts', SHARD_FILE);
  write('packages/shard/src/hushed.ts', HUSHED);
  write('packages/base/src/runtime/real.ts', CLOCKS);
  write('tools/planted.ts', CLOCKS);
  write('packages/wire/src/gen/x_pb.ts', CLOCKS);
  return root;
}

test('oxlint with our configuration finds each planted violation and nothing else', (t) => {
  const root = plant(t);
  const oxlint = path.join(ROOT, 'node_modules/.bin/oxlint');
  const run = spawnSync(oxlint, ['--type-aware', '-f', 'json'], { cwd: root, encoding: 'utf8' });
  assert.equal(run.status, 1, run.stderr);
  const { diagnostics } = JSON.parse(run.stdout) as { readonly diagnostics: Diagnostic[] };
  const found = diagnostics.map(({ code, filename, labels }) => {
    const rule = /\(([^)]+)\)/.exec(code)?.[1] ?? code;
    return `${filename}:${labels[0]?.span.line ?? 0} ${rule}`;
  });
  const expected = SHARD_FILE.split('\n').flatMap((line, i) => {
    const rule = /\/\/ ([a-z-]+)$/.exec(line)?.[1];
    return rule === undefined ? [] : [`packages/shard/src/planted.ts:${i + 1} ${rule}`];
  });
  const hushed = found.filter((one) => one.startsWith('packages/shard/src/hushed.ts'));
  assert.equal(hushed.length, 1, 'an unused disable directive is reported');
  assert.deepEqual(found.filter((one) => !hushed.includes(one)).sort(), expected.sort());
});

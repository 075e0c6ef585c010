// Proves that all that ships of engine and base bundles for a browser, and that the bundler finds
// every planted use of Node, and only those.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { createTempDir } from '../toolkit/index.ts';
import { type Bundle, bundleForBrowser } from './bundle.ts';
import { bundleShipped, REPOSITORY, shippedSources } from './engine-sources.ts';

/** Fewer would mean that the patterns lost a folder. */
const MIN_FILES = 150;

function problemsOf(bundle: Bundle): string {
  return bundle.ok ? '' : bundle.problems.join('\n');
}

test('everything that ships of engine and base is browser-safe', async () => {
  const bundle = await bundleShipped();
  assert.ok(bundle.ok, problemsOf(bundle));
  const seen = bundle.files.map((file) => path.relative(REPOSITORY, file)).sort();
  assert.deepEqual(seen, shippedSources());
  assert.ok(seen.length >= MIN_FILES, `only ${seen.length} files`);
  for (const file of ['packages/engine/src/index.ts', 'packages/base/src/index.ts']) {
    assert.ok(seen.includes(file), file);
  }
});

test('a violation planted anywhere in the real sources is found', async () => {
  const table: ReadonlyArray<readonly [file: string, line: string, problem: RegExp]> = [
    [
      'packages/engine/src/cycle/engine.ts',
      "import 'node:fs';",
      /packages\/engine\/src\/cycle\/engine\.ts:\d+: imports node:fs: a Node built-in/,
    ],
    [
      'packages/base/src/ids.ts',
      'const planted = () => Buffer.alloc(1);',
      /packages\/base\/src\/ids\.ts: uses Buffer/,
    ],
    [
      'packages/engine/src/planted-alone.ts',
      'export const planted: string = process.version;',
      /packages\/engine\/src\/planted-alone\.ts: uses process/,
    ],
    [
      'packages/engine/src/model/need.ts',
      "export { cp } from '../../../../outside.ts';",
      /outside\.ts: outside the folders of this bundle/,
    ],
  ];
  await using dir = createTempDir('planted');
  await copySources(dir.path);
  await writeFile(path.join(dir.path, 'outside.ts'), 'export const cp = 1;\n');
  for (const [file, line, problem] of table) {
    const clean = await textOf(path.join(REPOSITORY, file));
    await writeFile(path.join(dir.path, file), `${clean}\n${line}\n`);
    const bundle = await bundleShipped(dir.path);
    assert.ok(!bundle.ok, `${line} passed`);
    assert.equal(bundle.problems.length, 1, problemsOf(bundle));
    assert.match(problemsOf(bundle), problem);
    await writeFile(path.join(dir.path, file), clean);
  }
  const bundle = await bundleShipped(dir.path);
  assert.ok(bundle.ok, problemsOf(bundle));
});

/** Empty for a file that the tree does not have. */
async function textOf(file: string): Promise<string> {
  return existsSync(file) ? readFile(file, 'utf8') : '';
}

async function copySources(root: string): Promise<void> {
  const manifests = ['packages/base/package.json', 'packages/engine/package.json'];
  for (const file of [...shippedSources(), ...manifests]) {
    await cp(path.join(REPOSITORY, file), path.join(root, file));
  }
  await mkdir(path.join(root, 'node_modules'));
  await symlink(path.join(root, 'packages'), path.join(root, 'node_modules/@bigfleet'));
}

async function bundlePlanted(text: string): Promise<Bundle> {
  await using dir = createTempDir('bundle');
  await writeFile(path.join(dir.path, 'deep.ts'), text);
  await writeFile(path.join(dir.path, 'index.ts'), "export * from './deep.ts';\n");
  const entry = "import './index.ts';";
  return await bundleForBrowser({ entry, from: dir.path, folders: [dir.path] });
}

test('every form of reaching Node is refused', async () => {
  const table: ReadonlyArray<readonly [text: string, problem: string]> = [
    ["import { readFileSync } from 'node:fs'; readFileSync;", 'imports node:fs'],
    ["import 'fs';", 'imports fs: a Node built-in'],
    ["export { setTimeout } from 'node:timers/promises';", 'imports node:timers/promises'],
    ["export const load = () => import('node:worker_threads');", 'imports node:worker_threads'],
    ["export const load = () => require('node:os');", 'imports node:os'],
    ["import test from 'node:test'; test;", 'imports node:test'],
    ["import assert from 'node:assert/strict'; assert;", 'imports node:assert/strict'],
    ["import fc from 'fast-check'; fc;", 'imports fast-check: not a browser-safe package'],
    ["import '@bigfleet/base/real';", 'imports @bigfleet/base/real'],
    ["import '@bigfleet/wire';", 'imports @bigfleet/wire'],
    ["export const a = Buffer.from('a');", 'uses Buffer'],
    ['export const a = process.version;', 'uses process'],
    ["export const a = process.env['A'];", 'uses process'],
    ['export const a = typeof process;', 'uses process'],
    ['const unused = () => setImmediate(() => {}); export {};', 'uses setImmediate'],
    ['export const a = { clearImmediate };', 'uses clearImmediate'],
    ['export const a = global;', 'uses global'],
    ['export const a = new SharedArrayBuffer(8);', 'uses SharedArrayBuffer'],
    ['export const a = globalThis.Buffer;', 'uses Buffer'],
    ["export const a = globalThis['process'];", 'uses process'],
    ['export const { Buffer: a } = globalThis;', 'uses globalThis'],
    ['export const a = (key) => globalThis[key];', 'uses globalThis'],
    ['export const a = (name) => require(name);', 'uses require'],
    ['export const a = __dirname;', 'uses __dirname'],
    ['export const a = import.meta.dirname;', 'uses import.meta.dirname'],
  ];
  for (const [text, problem] of table) {
    const bundle = await bundlePlanted(text);
    assert.ok(!bundle.ok, `passed: ${text}`);
    assert.ok(
      bundle.problems.some((one) => /deep\.ts/.test(one) && one.includes(problem)),
      `${text}: ${problemsOf(bundle)}`,
    );
  }
});

test('what only looks like Node is not refused', async () => {
  const table: readonly string[] = [
    '// Buffer, process, node:fs\nexport const a = 1;',
    "export const a = 'node:fs Buffer process.env';",
    'export const a = (process: { version: string }) => process.version;',
    'export class Buffer {} export const a = new Buffer();',
    'export const a = { process: 1, setImmediate() {} }.process;',
    'export function a(b: NodeJS.Process | Buffer | undefined): typeof process { return b as never; }',
    "import type { Server } from 'node:http'; export type A = Server;",
  ];
  for (const text of table) {
    const bundle = await bundlePlanted(text);
    assert.ok(bundle.ok, `${text}: ${problemsOf(bundle)}`);
  }
});

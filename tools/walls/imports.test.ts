// Proves that every form of naming a module is found, and nothing that only looks like one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findImports } from './imports.ts';
import { lex } from './lex.ts';

function find(source: string): string[] {
  const refs = findImports(lex(source, { jsx: false }));
  return refs.map((ref) => `${ref.kind} ${ref.specifier ?? '?'}`);
}

test('every form of import', () => {
  const table: ReadonlyArray<readonly [source: string, found: readonly string[]]> = [
    ["import a from 'x'", ['static x']],
    ["import a, { b as c, type d } from 'x'", ['static x']],
    ["import * as a from 'x' with { type: 'json' }", ['static x']],
    ["import a, * as b from 'x'", ['static x']],
    ["import {} from 'x'", ['static x']],
    ["import 'x'", ['side-effect x']],
    ["import type { A } from 'x'", ['type x']],
    ["import type A from 'x'", ['type x']],
    ["import type, { b } from 'x'", ['static x']],
    ["import type from 'x'", ['static x']],
    ["import { type } from 'x'; import { type as y } from 'z'", ['static x', 'static z']],
    ["export * from 'x'; export * as a from 'y'", ['static x', 'static y']],
    ["export { a, b as default } from 'x'", ['static x']],
    ["export type { A } from 'x'; export type * from 'y'", ['type x', 'type y']],
    [
      "await import('x'); type A = import('y').B<typeof import('z')>",
      'xyz'.split('').map((s) => `dynamic ${s}`),
    ],
    ["import('x', { with: {} }); import(`y`)", ['dynamic x', 'dynamic y']],
    ["import('x' + a); import(b); import(`${c}`)", ['dynamic ?', 'dynamic ?', 'dynamic ?']],
    ["import a = require('x')", ['require x']],
    ["require('x'); a = require.resolve('y'); require(z)", ['require x', 'resolve y', 'require ?']],
    ["const r = createRequire(import.meta.url); r('x'); r(y)", ['require ?']],
    ["const r = m.createRequire(u); r.resolve('x')", ['require ?']],
    ["import { createRequire as r } from 'x'", ['static x', 'require ?']],
    ["import.meta.resolve('x'); import.meta.dirname", ['resolve x']],
    ["new Worker(new URL('./w.ts', import.meta.url))", ['url ./w.ts']],
    ['new Worker(new URL(`./${w}.ts`, import.meta.url))', ['url ?']],
    ["new URL(\n'./w.ts',\nimport.meta.url,\n)", ['url ./w.ts']],
  ];
  for (const [source, found] of table) assert.deepEqual(find(source), found, source);
});

test('what only looks like an import', () => {
  const sources = [
    "// import 'x'",
    "const a = 'import b from c';",
    "const a = `import('x')`;",
    "const a = /import('x')/;",
    'export { a }; export const b = 1; export default c; export type D = { from: string };',
    "export type A = 'x' | 'y'; export { d }; const from = 'z';",
    "a.import('x'); a.require('y'); a?.require('z')",
    'class A { import(x: string) { return x; } require(y: string): void {} }',
    "const a = { import: 'x', require: 'y' };",
    "new URL('http://x'); new URL('./y', base); new URL(`./testdata/${x}`, import.meta.url)",
  ];
  for (const source of sources) assert.deepEqual(find(source), [], source);
});

test('bound names are known, with their aliases', () => {
  const [ref] = findImports(
    lex("import a, { b as c, type d, 'e f' as g } from 'x'", { jsx: false }),
  );
  assert.deepEqual(ref?.names, [
    { imported: 'default', local: 'a' },
    { imported: 'b', local: 'c' },
    { imported: 'd', local: 'd' },
    { imported: 'e f', local: 'g' },
  ]);
});

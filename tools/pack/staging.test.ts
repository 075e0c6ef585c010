// Proves on a small workspace, with the real compiler and npm, that a staged package holds its
// built sources and nothing else, and that its manifest points to them.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { distPath, publishedManifest } from './manifest.ts';
import { stagePackages } from './staging.ts';

const TSCONFIG = JSON.stringify({
  compilerOptions: {
    module: 'nodenext',
    target: 'es2024',
    types: [],
    strict: true,
    composite: true,
    rewriteRelativeImportExtensions: true,
    rootDir: 'src',
    outDir: 'dist',
  },
  include: ['src'],
});

const MANIFEST = {
  name: '@bigfleet/a',
  version: '1.2.3',
  type: 'module',
  private: false,
  exports: { '.': './src/index.ts', './deep': './src/deep/x.ts' },
  files: ['src'],
  dependencies: { '@bigfleet/b': '*', yaml: '2.0.0' },
  devDependencies: { typescript: '7' },
  publishConfig: { bin: { a: './src/deep/x.ts' } },
};

function plant(t: TestContext): string {
  const root = mkdtempSync(path.join(tmpdir(), 'stage-'));
  t.after(() => rmSync(root, { recursive: true }));
  const write = (file: string, text: string): void => {
    mkdirSync(path.join(root, path.dirname(file)), { recursive: true });
    writeFileSync(path.join(root, file), text);
  };
  write('LICENSE', 'Apache-2.0');
  write('packages/a/package.json', JSON.stringify({ ...MANIFEST, dependencies: {} }));
  write('packages/a/tsconfig.json', TSCONFIG);
  write('packages/a/src/index.ts', "export { x } from './deep/x.ts';\n");
  write('packages/a/src/deep/x.ts', 'export const x: number = 41;\n');
  write('packages/a/src/deep/x.test.ts', 'export {};\n');
  write('packages/a/src/testing/helper.ts', 'export {};\n');
  write('packages/a/dist/removed.js', 'export {};\n');
  return root;
}

test('a packed package holds its built sources, runs, and holds nothing else', (t) => {
  const root = plant(t);
  const out = path.join(root, 'out');
  mkdirSync(out);
  const [packed] = stagePackages({ root, names: ['a'], out });
  assert.ok(packed !== undefined);
  const listed = execFileSync('tar', ['-tzf', packed.tarball], { encoding: 'utf8' });
  assert.deepEqual(listed.trim().split('\n').sort(), [
    'package/LICENSE',
    'package/dist/deep/x.d.ts',
    'package/dist/deep/x.js',
    'package/dist/index.d.ts',
    'package/dist/index.js',
    'package/package.json',
  ]);
  const built = readFileSync(path.join(out, 'a/dist/index.js'), 'utf8');
  assert.match(built, /'\.\/deep\/x\.js'|"\.\/deep\/x\.js"/);
  const command = readFileSync(path.join(out, 'a/dist/deep/x.js'), 'utf8');
  assert.match(command, /^#!\/usr\/bin\/env node\n/);
});

test('the published manifest', () => {
  const published = publishedManifest(MANIFEST, new Map([['@bigfleet/b', '1.2.3']]));
  assert.deepEqual(published, {
    name: '@bigfleet/a',
    version: '1.2.3',
    type: 'module',
    engines: { node: '>=24' },
    exports: {
      '.': { types: './dist/index.d.ts', default: './dist/index.js' },
      './deep': { types: './dist/deep/x.d.ts', default: './dist/deep/x.js' },
    },
    bin: { a: 'dist/deep/x.js' },
    files: ['dist'],
    dependencies: { '@bigfleet/b': '1.2.3', yaml: '2.0.0' },
  });
  assert.throws(
    () => publishedManifest(MANIFEST, new Map()),
    /@bigfleet\/b, which is not published/,
  );
  const odd = { ...MANIFEST, dependencies: {}, exports: { '.': './lib/index.js' } };
  assert.throws(() => publishedManifest(odd, new Map()), /expected \.\/src/);
});

test('where a source is built to', () => {
  assert.equal(distPath('./src/a/b.ts'), 'dist/a/b');
  assert.equal(distPath('src/index.ts'), 'dist/index');
  assert.equal(distPath('lib/index.ts'), undefined);
});

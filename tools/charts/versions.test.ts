// Proves that a chart which changed has to raise its version, by what it links to as well, and that an unchanged,
// a new and a raised one are left in peace.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, beforeEach, test } from 'node:test';
import { staleVersions } from './versions.ts';

const root = mkdtempSync(path.join(tmpdir(), 'bigfleet-versions-'));
const CHART = 'deploy/helm/sample';

after(() => rmSync(root, { recursive: true, force: true }));

function write(file: string, text: string): void {
  mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
  writeFileSync(path.join(root, file), text);
}

function git(...args: readonly string[]): void {
  const identity = ['-c', 'user.name=test', '-c', 'user.email=test@example.com'];
  execFileSync('git', [...identity, ...args], { cwd: root, stdio: 'pipe' });
}

beforeEach(() => {
  rmSync(root, { recursive: true, force: true });
  write(`${CHART}/Chart.yaml`, 'name: sample\nversion: 0.1.0\n');
  write(`${CHART}/templates/a.yaml`, 'kind: A\n');
  write('api/crd/a.yaml', 'kind: CustomResourceDefinition\n');
  mkdirSync(path.join(root, CHART, 'files'));
  symlinkSync('../../../../api/crd', path.join(root, CHART, 'files/crds'));
  git('init', '--quiet');
  git('add', '--all');
  git('commit', '--quiet', '--message=published');
});

const STALE = [
  'deploy/helm/sample differs from HEAD: raise version 0.1.0 in deploy/helm/sample/Chart.yaml',
];

test('an unchanged chart keeps its version', () => {
  assert.deepEqual(staleVersions(root, 'HEAD'), []);
});

for (const [what, file] of [
  ['a changed file', `${CHART}/templates/a.yaml`],
  ['a new file', `${CHART}/templates/b.yaml`],
  ['a changed file that it links to', 'api/crd/a.yaml'],
] as const) {
  test(`${what} needs a new version, and one is enough`, () => {
    write(file, 'kind: B\n');
    assert.deepEqual(staleVersions(root, 'HEAD'), STALE);
    write(`${CHART}/Chart.yaml`, 'name: sample\nversion: 0.1.1\n');
    assert.deepEqual(staleVersions(root, 'HEAD'), []);
  });
}

test('a chart that was not there before is left in peace', () => {
  write('deploy/helm/another/Chart.yaml', 'name: another\nversion: 0.1.0\n');
  assert.deepEqual(staleVersions(root, 'HEAD'), []);
});

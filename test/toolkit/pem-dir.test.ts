// Proves that PEM files have the right content and modes, and that every kind of rotation shows
// to a process that watches them by path and mtime exactly as it happens in production.

import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { existsSync, lstatSync, readFileSync, statSync } from 'node:fs';
import { before, test } from 'node:test';
import { createPemDir, type PemDir } from './pem-dir.ts';
import { mintPki, type TestPki } from './pki-fixtures.ts';

let pki: TestPki;
before(async () => {
  pki = await mintPki();
});

function isCoherent(files: PemDir): boolean {
  const certificate = new X509Certificate(readFileSync(files.certFile));
  return certificate.checkPrivateKey(createPrivateKey(readFileSync(files.keyFile)));
}

function mtimeNanos(path: string): bigint {
  return statSync(path, { bigint: true }).mtimeNs;
}

for (const layout of ['plain', 'kubernetes'] as const) {
  test(`${layout}: files are private, coherent, and new after a rotation`, async () => {
    await using files = await createPemDir(await pki.fixture('shard'), layout);
    for (const path of [files.certFile, files.keyFile, files.caFile]) {
      assert.equal(statSync(path).mode & 0o777, 0o600, path);
    }
    assert.equal(statSync(files.path).mode & 0o777, 0o700);
    assert.equal(readFileSync(files.caFile, 'utf8'), pki.caPem);
    assert.ok(isCoherent(files));

    const [oldCert, oldMtime] = [readFileSync(files.certFile, 'utf8'), mtimeNanos(files.certFile)];
    await files.rotate(await pki.fixture('otherShard'));
    assert.notEqual(readFileSync(files.certFile, 'utf8'), oldCert);
    assert.ok(mtimeNanos(files.certFile) > oldMtime);
    assert.ok(isCoherent(files));
  });
}

test('a half rotation leaves the new certificate beside the old key', async () => {
  await using files = await createPemDir(await pki.fixture('shard'));
  const keyMtime = mtimeNanos(files.keyFile);
  const next = await pki.fixture('otherShard');
  await files.startRotation(next);
  assert.equal(readFileSync(files.certFile, 'utf8'), next.certPem);
  assert.equal(isCoherent(files), false);
  assert.equal(mtimeNanos(files.keyFile), keyMtime);
  await files.finishRotation(next);
  assert.ok(isCoherent(files));
  assert.ok(mtimeNanos(files.keyFile) > keyMtime);
});

test('ten quick rewrites have ten different mtimes', async () => {
  await using files = await createPemDir(await pki.fixture('shard'));
  const seen = new Set<bigint>();
  for (let round = 0; round < 10; round += 1) {
    await files.write('tls.crt', `round ${round}`);
    seen.add(mtimeNanos(files.certFile));
  }
  assert.equal(seen.size, 10);
});

test('a file can be missing for a while', async () => {
  const leaf = await pki.fixture('shard');
  await using files = await createPemDir(leaf);
  await files.removeFile('tls.key');
  assert.equal(existsSync(files.keyFile), false);
  await files.write('tls.key', leaf.keyPem);
  assert.ok(isCoherent(files));
});

test('the Kubernetes layout reaches files through two symlinks and refuses writes in place', async () => {
  await using files = await createPemDir(await pki.fixture('shard'), 'kubernetes');
  assert.ok(lstatSync(files.certFile).isSymbolicLink());
  assert.ok(lstatSync(`${files.path}/..data`).isSymbolicLink());
  await assert.rejects(files.write('tls.crt', 'x'), /never written in place/);
});

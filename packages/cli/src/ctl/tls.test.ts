// Proves bigfleetctl under mutual TLS, by real handshakes: the coordinator must be bigfleet://admin
// wherever a hint leads, roles are the server's to judge, and doctor reads what certificates end.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { realRuntime } from '@bigfleet/base/real';
import { createGate, RpcError, TlsMaterial, tlsFromFlags } from '@bigfleet/wire';
import { type CertificateFiles, createTestCa } from './testing/certificates.ts';
import { startFakeCoordinator } from './testing/fake-coordinator.ts';
import { runCtl } from './testing/run-ctl.ts';

const ca = await createTestCa();
after(() => ca.remove());
const admin = await ca.issue('bigfleet://admin');
const readonly = await ca.issue('bigfleet://readonly');
const shard = await ca.issue('bigfleet://shard/shard-0');

function material(files: CertificateFiles): TlsMaterial {
  const made = tlsFromFlags(files);
  assert.ok(made instanceof TlsMaterial);
  return made;
}

function flags({ cert, key, ca: root }: CertificateFiles): string[] {
  return [`--tls-cert=${cert}`, `--tls-key=${key}`, `--tls-ca=${root}`];
}

const gate = createGate({ transport: 'mtls' });

test('an administrator may write, a reader may read only', async () => {
  await using fake = await startFakeCoordinator({ tls: material(admin), gate });
  const at = `--coordinator=${fake.address}`;
  const unbind = ['unbind-cluster', '--cluster=c'];
  assert.equal((await runCtl([at, ...flags(admin), ...unbind])).code, 0);
  assert.equal((await runCtl([at, ...flags(readonly), 'list-quotas'])).code, 0);
  const denied = await runCtl([at, ...flags(readonly), ...unbind]);
  assert.equal(denied.code, 1);
  assert.match(denied.error, /^bigfleetctl: identity_denied: .*bigfleet:\/\/readonly/);
  assert.equal(fake.calls.length, 1);
});

test('a server that is no coordinator is not spoken to, also behind a hint', async () => {
  await using impostor = await startFakeCoordinator({ tls: material(shard), gate });
  const direct = await runCtl([
    `--coordinator=${impostor.address}`,
    ...flags(admin),
    'unbind-cluster',
    '--cluster=c',
  ]);
  assert.equal(direct.code, 1);
  assert.match(
    direct.error,
    /presents bigfleet:\/\/shard\/shard-0, required is bigfleet:\/\/admin/,
  );
  const metadata = new Map([['bigfleet-leader-address', impostor.address]]);
  await using follower = await startFakeCoordinator({
    tls: material(admin),
    gate,
    precheck: () => new RpcError('FAILED_PRECONDITION', 'coordinator: not leader', { metadata }),
  });
  const hinted = await runCtl([
    `--coordinator=${follower.address}`,
    ...flags(admin),
    'unbind-cluster',
    '--cluster=c',
  ]);
  assert.equal(hinted.code, 1);
  assert.equal(impostor.calls.length, 0);
});

test('a plaintext client of a TLS server, and the reverse, get an error and no hang', async () => {
  await using secure = await startFakeCoordinator({ tls: material(admin), gate });
  await using open = await startFakeCoordinator();
  const plain = await runCtl([`--coordinator=${secure.address}`, '--timeout=60s', 'list-quotas']);
  assert.equal(plain.code, 1);
  assert.match(plain.error, /ended the connection in the handshake: .* TLS on one side only/);
  const reverse = [`--coordinator=${open.address}`, '--timeout=2s', ...flags(admin), 'list-quotas'];
  assert.equal((await runCtl(reverse)).code, 1);
});

test('a certificate that has expired: the message names it, and doctor finds it', async () => {
  const expired = await ca.issue('bigfleet://admin', -1);
  await using fake = await startFakeCoordinator({ tls: material(admin), gate });
  const argv = [`--coordinator=${fake.address}`, ...flags(expired)];
  const { code, error } = await runCtl([...argv, 'list-quotas']);
  assert.equal(code, 1);
  assert.match(
    error,
    /ended the connection in the handshake: a certificate of ours that has expired/,
  );
  assert.equal(fake.calls.length, 0);
  const doctor = await runCtl([...argv, 'doctor'], { runtime: realRuntime() });
  assert.equal(doctor.code, 2);
  assert.match(doctor.output, /^error +bigfleetctl: has expired \[certificate\]$/m);
});

test('doctor counts the last days of a certificate in hours', async () => {
  const ending = await ca.issue('bigfleet://admin', 5.5);
  await using fake = await startFakeCoordinator({ tls: material(admin), gate, shards: [] });
  const argv = [`--coordinator=${fake.address}`, ...flags(ending), 'doctor'];
  const { output } = await runCtl(argv, { runtime: realRuntime() });
  assert.match(output, /^warning +bigfleetctl: expires in 5 hours \[certificate\]$/m);
});

test('doctor warns of certificates that end soon, here and at the server', async () => {
  const ending = await ca.issue('bigfleet://admin', 50);
  await using fake = await startFakeCoordinator({ tls: material(ending), gate, shards: [] });
  const argv = [`--coordinator=${fake.address}`, ...flags(ending), 'doctor', '-o', 'json'];
  const { code, output } = await runCtl(argv, { runtime: realRuntime() });
  // The literal fleet has an error of its own: a cluster on two shards.
  assert.equal(code, 2);
  const findings = JSON.parse(output) as { check: string; subject: string; message: string }[];
  const certificates = findings.filter(({ check }) => check === 'certificate');
  assert.deepEqual(
    certificates.map(({ subject, message }) => `${subject} ${message}`),
    ['bigfleetctl expires in 2 days', `coordinator ${fake.address} expires in 2 days`],
  );
});

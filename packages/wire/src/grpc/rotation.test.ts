// Proves over real connections that a rotated leaf is used from the next handshake on, at the server
// and at the client, that open streams live through it, and that bad files refuse nobody.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import { connect } from 'node:tls';
import { createPki, type Pki, writeMaterial } from '../testing/pki.ts';
import { tlsFromFlags } from '../tls/flags.ts';
import { checkedPair } from '../tls/leaf-pair.ts';
import { TlsMaterial } from '../tls/material.ts';
import { startTlsReload } from '../tls/reload.ts';
import {
  bytes,
  dial,
  echoPath,
  eventually,
  failsWith,
  openServer,
  routes,
  runtime,
  streaming,
  text,
  unary,
} from './testing/fixture.ts';

/** A material with a rotate() that writes the files and waits for the reload to see them. */
async function rotatable(t: TestContext, pki: Pki, uri: string) {
  const files = writeMaterial(await pki.leaf({ uris: [uri], commonName: 'first' }), pki.caPem);
  t.after(() => files.remove());
  const material = tlsFromFlags({ ...files, env: {} });
  assert.ok(material instanceof TlsMaterial);
  const reload = startTlsReload({ runtime, material });
  t.after(() => reload.stop());
  return {
    files,
    material,
    check: () => reload.check(),
    rotate: async (commonName: string) => {
      const leaf = await pki.leaf({ uris: [uri], commonName });
      writeFileSync(files.cert, leaf.certPem);
      writeFileSync(files.key, leaf.keyPem);
      await reload.check();
    },
  };
}

/** The common name of the leaf that a server presents now. */
async function presentedBy(t: TestContext, pki: Pki, address: string): Promise<string> {
  const { certPem, keyPem } = await pki.leaf({ uris: ['bigfleet://readonly'] });
  const port = Number(address.slice(address.lastIndexOf(':') + 1));
  const options = { port, host: '127.0.0.1', ca: pki.caPem, cert: certPem, key: keyPem };
  const socket = connect({ ...options, ALPNProtocols: ['h2'] });
  t.after(() => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    socket.once('secureConnect', resolve);
    socket.once('error', reject);
  });
  const name = String(socket.getPeerCertificate().subject.CN);
  socket.destroy();
  return name;
}

const router = routes({
  [echoPath]: unary(async (_request, { peer }) =>
    bytes(peer.identity.kind === 'verified' ? (peer.identity.commonName ?? '') : 'nobody'),
  ),
  '/t.T/Talk': streaming((requests) => requests),
});
const serverIdentity = { kind: 'admin' } as const;

describe('rotation', () => {
  it('at the server: new handshakes get the new leaf, open streams go on', async (t) => {
    const pki = await createPki();
    const served = await rotatable(t, pki, 'bigfleet://admin');
    const mine = await rotatable(t, pki, 'bigfleet://cluster/c');
    const { address, server } = await openServer(t, { tls: served.material, router });
    const channel = dial(t, address, { tls: mine.material, serverIdentity });
    const talk = channel.stream('/t.T/Talk', forever());
    await talk.next();
    assert.equal(await presentedBy(t, pki, address), 'first');
    await served.rotate('second');
    assert.equal(await presentedBy(t, pki, address), 'second');
    for (let i = 0; i < 20; i += 1) assert.equal((await talk.next()).done, false);
    await eventually('only the stream is connected', () => server.connectionCount === 1);
    await talk.return?.();
  });

  it('at the client: the open connection stays, the next one presents the new leaf', async (t) => {
    const pki = await createPki();
    const served = await rotatable(t, pki, 'bigfleet://admin');
    const mine = await rotatable(t, pki, 'bigfleet://cluster/c');
    const first = await openServer(t, { tls: served.material, router });
    const channel = dial(t, first.address, { tls: mine.material, serverIdentity });
    assert.equal(text(await channel.unary(echoPath, bytes(''))), 'first');
    await mine.rotate('second');
    assert.equal(text(await channel.unary(echoPath, bytes(''))), 'first');
    await first.server.stop();
    await openServer(t, { tls: served.material, router, listen: [first.address] });
    let answer = '';
    for (let attempt = 0; attempt < 100 && answer === ''; attempt += 1) {
      answer = await channel.unary(echoPath, bytes('')).then(text, () => '');
      await runtime.timers.turn();
    }
    assert.equal(answer, 'second');
  });

  it('with bad files: the server goes on with the last good pair', async (t) => {
    const pki = await createPki();
    const served = await rotatable(t, pki, 'bigfleet://admin');
    const { address } = await openServer(t, { tls: served.material, router });
    for (const junk of ['', 'not PEM', readFileSync(served.files.ca, 'utf8')]) {
      writeFileSync(served.files.cert, junk);
      await served.check();
      assert.equal(await presentedBy(t, pki, address), 'first');
    }
    await served.rotate('second');
    assert.equal(await presentedBy(t, pki, address), 'second');
  });

  it('replaces nothing when a pair cannot make a secure context', async (t) => {
    const pki = await createPki();
    const { material, files } = await rotatable(t, pki, 'bigfleet://admin');
    const { address } = await openServer(t, { tls: material, router });
    const leaf = await pki.leaf({ commonName: 'broken chain' });
    const chain = `${leaf.certPem}\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`;
    const pair = checkedPair(Buffer.from(chain), Buffer.from(leaf.keyPem), files);
    assert.throws(() => material.replace(pair), { code: 'tls_bad_material' });
    assert.equal(await presentedBy(t, pki, address), 'first');
  });
});

describe('a TLS server that lost its policy', () => {
  class Lax extends TlsMaterial {
    override clientCertificatePolicy(): { requestCert: boolean } {
      return { requestCert: false };
    }
  }

  it('still serves nobody without a verified certificate', async (t) => {
    const pki = await createPki();
    const { files } = await rotatable(t, pki, 'bigfleet://admin');
    const pair = checkedPair(readFileSync(files.cert), readFileSync(files.key), files);
    const lax = new Lax({ files, pair, ca: [pki.caPem] });
    const opened = await openServer(t, { tls: lax, router });
    const mine = await rotatable(t, pki, 'bigfleet://cluster/c');
    const channel = opened.dial({ tls: mine.material, serverIdentity });
    await failsWith('UNAVAILABLE', channel.unary(echoPath, bytes('')));
    assert.match(String(opened.errors[0]?.error), /no verified peer certificate/);
  });
});

async function* forever(): AsyncIterable<Uint8Array> {
  for (;;) {
    yield bytes('x');
    await runtime.timers.turn();
  }
}

// Proves with real handshakes who gets in and as whom: the transport rows of security §8 and the
// threats 1–3, 16–19 and the server identity of security §3.2.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import type { PeerIdentity } from '../identity/identity.ts';
import { createPki, type Leaf, writeMaterial } from '../testing/pki.ts';
import { tlsFromFlags } from '../tls/flags.ts';
import type { ServerIdentityRule } from '../tls/server-identity.ts';
import type { ByteMethod } from '../transport/transport.ts';
import {
  bytes,
  dial,
  echoPath,
  eventually,
  failsWith,
  materialOf,
  mint,
  type Opened,
  openServer,
  pki,
  rawSocket,
  routes,
  streaming,
  text,
  unary,
} from './testing/fixture.ts';

interface Seen {
  readonly identities: PeerIdentity[];
}

function recording(seen: Seen): ByteMethod {
  return unary(async (request, { peer }) => {
    seen.identities.push(peer.identity);
    return request;
  });
}

async function openMutual(t: TestContext, seen: Seen = { identities: [] }): Promise<Opened> {
  const tls = await mint(t, { uris: ['bigfleet://admin'] });
  return openServer(t, { tls, router: routes({ [echoPath]: recording(seen) }) });
}

/** A TLS client that is not ours; resolves with what ended the handshake or the first read. */
async function handshake(
  t: TestContext,
  { address }: Opened,
  options: ConnectionOptions,
): Promise<{ socket: TLSSocket; error: Error | undefined }> {
  const { caPem } = await pki();
  const port = Number(address.slice(address.lastIndexOf(':') + 1));
  const socket = connect({ port, host: '127.0.0.1', ca: caPem, ALPNProtocols: ['h2'], ...options });
  t.after(() => socket.destroy());
  // In TLS 1.3 the server judges the client's certificate after the client is done.
  const error = await new Promise<Error | undefined>((resolve) => {
    socket.once('error', resolve);
    socket.once('data', () => resolve(undefined));
    socket.once('close', () => resolve(new Error('closed')));
  });
  return { socket, error };
}

function clientOf(leaf: Leaf): ConnectionOptions {
  return { cert: leaf.certPem, key: leaf.keyPem };
}

describe('mTLS servers', () => {
  it('show the handler the identity of a leaf of their CA', async (t) => {
    const seen: Seen = { identities: [] };
    const { dial } = await openMutual(t, seen);
    const tls = await mint(t, { uris: ['bigfleet://cluster/eu-1'], commonName: 'eu-1' });
    const channel = dial({ tls, serverIdentity: { kind: 'admin' } });
    await channel.unary(echoPath, bytes(''));
    await channel.unary(echoPath, bytes(''));
    const expected = {
      kind: 'verified',
      role: 'cluster',
      id: 'eu-1',
      san: 'bigfleet://cluster/eu-1',
      commonName: 'eu-1',
    };
    assert.deepEqual(seen.identities, [expected, expected]);
  });

  it('keep the identities of concurrent connections apart', async (t) => {
    const ids = Array.from({ length: 8 }, (_, i) => `c${i}`);
    const say = unary(async (_request, { peer }) => {
      return bytes(peer.identity.kind === 'verified' ? peer.identity.id : 'nobody');
    });
    const tls = await mint(t, { uris: ['bigfleet://admin'] });
    const opened = await openServer(t, { tls, router: routes({ [echoPath]: say }) });
    await Promise.all(
      ids.map(async (id) => {
        const mine = await mint(t, { uris: [`bigfleet://cluster/${id}`] });
        const channel = opened.dial({ tls: mine, serverIdentity: { kind: 'admin' } });
        for (let i = 0; i < 5; i += 1) {
          assert.equal(text(await channel.unary(echoPath, bytes(''))), id);
        }
      }),
    );
  });

  const unusable = [
    ['no SAN', {}, 'identity_missing'],
    ['two SANs', { uris: ['bigfleet://cluster/a', 'bigfleet://admin'] }, 'identity_ambiguous'],
    ['a percent-encoded SAN', { uris: ['bigfleet://cluster/a%2E'] }, 'identity_malformed'],
    ['a trailing slash', { uris: ['bigfleet://cluster/a/'] }, 'identity_malformed'],
    ['another case', { uris: ['BIGFLEET://admin'] }, 'identity_missing'],
    [
      'a URI with ", URI:" inside',
      { uris: ['bigfleet://cluster/a, URI:bigfleet://admin'] },
      'identity_malformed',
    ],
    ['a DNS name with ", URI:" inside', { dns: ['a, URI:bigfleet://admin'] }, 'identity_missing'],
    ['a CN that looks like one', { commonName: 'bigfleet://admin' }, 'identity_missing'],
  ] as const;
  for (const [name, request, reason] of unusable) {
    it(`connect but do not identify: ${name}`, async (t) => {
      const seen: Seen = { identities: [] };
      const { dial } = await openMutual(t, seen);
      const tls = await mint(t, request);
      await dial({ tls, serverIdentity: { kind: 'admin' } }).unary(echoPath, bytes(''));
      const [identity] = seen.identities;
      assert.equal(identity?.kind === 'unusable' && identity.reason, reason);
    });
  }

  const refused: Readonly<Record<string, () => Promise<ConnectionOptions>>> = {
    'no certificate': async () => ({}),
    'a certificate of another CA': async () => {
      const other = await createPki('another CA');
      return clientOf(await other.leaf({ uris: ['bigfleet://admin'] }));
    },
    'an expired certificate': async () =>
      clientOf(
        await (await pki()).leaf({
          uris: ['bigfleet://admin'],
          validFromSeconds: -7_200,
          validToSeconds: -60,
        }),
      ),
    'a certificate of the future': async () =>
      clientOf(await (await pki()).leaf({ uris: ['bigfleet://admin'], validFromSeconds: 600 })),
    'a certificate for servers only': async () =>
      clientOf(await (await pki()).leaf({ uris: ['bigfleet://admin'], usages: ['server'] })),
    'TLS 1.2': async () => ({
      ...clientOf(await (await pki()).leaf({ uris: ['bigfleet://admin'] })),
      maxVersion: 'TLSv1.2',
    }),
    'another protocol than h2': async () => ({
      ...clientOf(await (await pki()).leaf({ uris: ['bigfleet://admin'] })),
      ALPNProtocols: ['http/1.1'],
    }),
  };
  for (const [name, optionsOf] of Object.entries(refused)) {
    it(`refuse ${name} in the handshake`, async (t) => {
      const seen: Seen = { identities: [] };
      const opened = await openMutual(t, seen);
      const { error } = await handshake(t, opened, await optionsOf());
      assert.ok(error instanceof Error);
      await eventually('the refusal is reported', () => opened.errors.length > 0);
      assert.equal(opened.errors[0]?.kind, 'connection-refused');
      await eventually('the connection is gone', () => opened.server.connectionCount === 0);
      assert.equal(seen.identities.length, 0);
    });
  }

  it('accept the same client when nothing is wrong with it', async (t) => {
    const opened = await openMutual(t);
    const leaf = await (await pki()).leaf({ uris: ['bigfleet://admin'] });
    const { error, socket } = await handshake(t, opened, clientOf(leaf));
    assert.equal(error, undefined);
    assert.equal(socket.getProtocol(), 'TLSv1.3');
  });

  it('resume no session', async (t) => {
    const opened = await openMutual(t);
    const options = clientOf(await (await pki()).leaf({ uris: ['bigfleet://admin'] }));
    const sessions: Buffer[] = [];
    const first = await handshake(t, opened, options);
    first.socket.on('session', (session) => sessions.push(session));
    const session = sessions[0] ?? first.socket.getSession();
    const second = await handshake(t, opened, {
      ...options,
      ...(session === undefined ? {} : { session }),
    });
    assert.equal(second.error, undefined);
    assert.equal(second.socket.isSessionReused(), false);
  });

  it('drop a peer that never starts the handshake from the stop, not from its grace', async (t) => {
    const opened = await openMutual(t);
    await rawSocket(t, opened.address);
    await eventually('it is connected', () => opened.server.connectionCount === 1);
    await opened.server.stop();
    assert.equal(opened.server.connectionCount, 0);
  });

  it('stay up through garbage and plaintext', async (t) => {
    const opened = await openMutual(t);
    for (const junk of [
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      'GET / HTTP/1.1\r\n\r\n',
      '\x16\x03\x01\xff\xff',
    ]) {
      const socket = await rawSocket(t, opened.address);
      socket.resume();
      socket.end(Buffer.from(junk, 'latin1'));
      await once(socket, 'close');
    }
    await failsWith('UNAVAILABLE', dial(t, opened.address).unary(echoPath, bytes('')));
    const tls = await mint(t, { uris: ['bigfleet://readonly'] });
    const channel = opened.dial({ tls, serverIdentity: { kind: 'admin' } });
    assert.equal(text(await channel.unary(echoPath, bytes('alive'))), 'alive');
  });

  it('carry streams and large messages', async (t) => {
    const tls = await mint(t, { uris: ['bigfleet://admin'] });
    const opened = await openServer(t, {
      tls,
      router: routes({ '/t.T/Talk': streaming((requests) => requests) }),
    });
    async function* rollUps(): AsyncIterable<Uint8Array> {
      for (let i = 0; i < 5; i += 1) yield new Uint8Array(434_000).fill(i);
    }
    let seen = 0;
    const channel = opened.dial({ tls, serverIdentity: { kind: 'admin' } });
    for await (const message of channel.stream('/t.T/Talk', rollUps())) {
      assert.equal(message.length, 434_000);
      assert.equal(message[433_999], seen);
      seen += 1;
    }
    assert.equal(seen, 5);
  });
});

describe('server-only TLS', () => {
  it('encrypts, is verified by its client, and identifies nobody', async (t) => {
    const { leaf, caPem } = await pki();
    const files = writeMaterial(await leaf({}), caPem);
    t.after(() => files.remove());
    const tls = tlsFromFlags({ cert: files.cert, key: files.key, allowServerOnly: true, env: {} });
    assert.ok(tls !== 'plaintext');
    const seen: Seen = { identities: [] };
    const opened = await openServer(t, { tls, router: routes({ [echoPath]: recording(seen) }) });
    const mine = await mint(t, { uris: ['bigfleet://shard/s1'] });
    const serverIdentity = { kind: 'host-name-only' } as const;
    await opened.dial({ tls: mine, serverIdentity }).unary(echoPath, bytes(''));
    assert.deepEqual(seen.identities, [{ kind: 'unverified' }]);
    await failsWith('UNAVAILABLE', opened.dial().unary(echoPath, bytes('')));
    const old = await handshake(t, opened, { maxVersion: 'TLSv1.2' });
    assert.ok(old.error instanceof Error);
  });
});

describe('plaintext servers', () => {
  it('reject a TLS client', async (t) => {
    const opened = await openServer(t);
    const tls = await mint(t, { uris: ['bigfleet://admin'] });
    const channel = opened.dial({ tls, serverIdentity: { kind: 'admin' } });
    await failsWith('UNAVAILABLE', channel.unary(echoPath, bytes('')));
  });

  it('identify nobody', async (t) => {
    const seen: Seen = { identities: [] };
    const opened = await openServer(t, { router: routes({ [echoPath]: recording(seen) }) });
    const metadata = new Map([['x-identity', 'bigfleet://admin']]);
    await opened.dial().unary(echoPath, bytes(''), { metadata });
    assert.deepEqual(seen.identities, [{ kind: 'unverified' }]);
  });
});

describe('TLS clients', () => {
  const admin: ServerIdentityRule = { kind: 'admin' };
  const hostOnly: ServerIdentityRule = { kind: 'host-name-only' };
  const cases = [
    ['admin for a coordinator', { uris: ['bigfleet://admin'] }, admin, undefined],
    [
      'a shard for a coordinator',
      { uris: ['bigfleet://shard/s1'] },
      admin,
      /identity_denied.*bigfleet:\/\/shard\/s1.*bigfleet:\/\/admin/,
    ],
    [
      'a cluster for a coordinator',
      { uris: ['bigfleet://cluster/admin'] },
      admin,
      /identity_denied/,
    ],
    [
      'admin and more for a coordinator',
      { uris: ['bigfleet://admin', 'bigfleet://shard/s1'] },
      admin,
      /identity_ambiguous/,
    ],
    ['no SAN for a coordinator', {}, admin, /no bigfleet:\/\/ SAN/],
    ['the right shard', { uris: ['bigfleet://shard/s1'] }, { kind: 'shard', id: 's1' }, undefined],
    [
      'another shard',
      { uris: ['bigfleet://shard/s2'] },
      { kind: 'shard', id: 's1' },
      /identity_denied.*s2.*s1/,
    ],
    ['any shard', { uris: ['bigfleet://shard/s2'] }, { kind: 'shard' }, undefined],
    ['admin for any shard', { uris: ['bigfleet://admin'] }, { kind: 'shard' }, /identity_denied/],
    ['a provider by host name', {}, hostOnly, undefined],
    ['a provider of another host', { dns: ['other'], ips: [] }, hostOnly, /not for host/],
    [
      'a coordinator of another host',
      { uris: ['bigfleet://admin'], dns: ['other'], ips: [] },
      admin,
      /not for host/,
    ],
    [
      'a host name in the CN only',
      { commonName: '127.0.0.1', dns: [], ips: [] },
      hostOnly,
      /not for host/,
    ],
    ['an expired server', { validFromSeconds: -7_200, validToSeconds: -60 }, hostOnly, /expired/],
    ['a server with a client-only leaf', { usages: ['client'] }, hostOnly, /purpose/],
  ] as const;
  for (const [name, request, serverIdentity, refusal] of cases) {
    it(`${refusal === undefined ? 'accept' : 'refuse'} ${name}`, async (t) => {
      const { dial } = await openServer(t, { tls: await mint(t, request) });
      const tls = await mint(t, { uris: ['bigfleet://shard/me'] });
      const call = dial({ tls, serverIdentity }).unary(echoPath, bytes('in'));
      if (refusal === undefined) assert.equal(text(await call), 'in');
      else assert.match((await failsWith('UNAVAILABLE', call)).message, refusal);
    });
  }

  it('refuse a server of another CA', async (t) => {
    const other = await createPki('another CA');
    const served = materialOf(t, await other.leaf({ uris: ['bigfleet://admin'] }), other.caPem);
    const { dial } = await openServer(t, { tls: served });
    const tls = await mint(t, { uris: ['bigfleet://shard/me'] });
    await failsWith('UNAVAILABLE', dial({ tls, serverIdentity: admin }).unary(echoPath, bytes('')));
  });

  it('verify the name they were told to, not the address they dial', async (t) => {
    const names = ['bigfleet-shard', 'bigfleet-shard.prod', 'bigfleet-shard.prod.svc'];
    const served = await mint(t, { uris: ['bigfleet://shard/s1'], dns: names, ips: [] });
    const { dial } = await openServer(t, { tls: served });
    const tls = await mint(t, { uris: ['bigfleet://cluster/c'] });
    const serverIdentity = { kind: 'shard' } as const;
    for (const serverName of names) {
      const channel = dial({ tls, serverIdentity, serverName });
      assert.equal(text(await channel.unary(echoPath, bytes('in'))), 'in');
    }
    const channel = dial({ tls, serverIdentity, serverName: 'bigfleet-shard.dev' });
    await failsWith('UNAVAILABLE', channel.unary(echoPath, bytes('')));
  });

  it('refuse a server that offers TLS 1.2 only', async (t) => {
    const { leaf, caPem } = await pki();
    const { certPem, keyPem } = await leaf({ uris: ['bigfleet://admin'] });
    let sessions = 0;
    const old = createSecureServer({
      cert: certPem,
      key: keyPem,
      ca: caPem,
      maxVersion: 'TLSv1.2',
    });
    old.on('session', () => {
      sessions += 1;
    });
    await new Promise<void>((resolve) => old.listen(0, '127.0.0.1', resolve));
    t.after(() => old.close());
    const { port } = old.address() as AddressInfo;
    const tls = await mint(t, { uris: ['bigfleet://shard/me'] });
    const channel = dial(t, `127.0.0.1:${port}`, { tls, serverIdentity: admin });
    const error = await failsWith('UNAVAILABLE', channel.unary(echoPath, bytes('')));
    assert.match(error.message, /version/i);
    assert.equal(sessions, 0);
  });

  it('must say who their server is', async (t) => {
    const tls = await mint(t, { uris: ['bigfleet://shard/me'] });
    assert.throws(() => dial(t, '127.0.0.1:1', { tls }), /who its server is/);
  });
});

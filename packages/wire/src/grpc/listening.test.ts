// Proves that a server listens where it was told, says clearly when it cannot, guards a Unix
// socket by its mode, and never takes a live server's socket.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { BigFleetError } from '@bigfleet/base';
import { createGrpcServer } from './server.ts';
import {
  bytes,
  dial,
  echo,
  echoPath,
  mint,
  openServer,
  routes,
  runtime,
  text,
  unary,
} from './testing/fixture.ts';

function socketPath(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'bigfleet-sock-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return join(folder, 'p.sock');
}

async function bindError(listen: readonly string[]): Promise<BigFleetError> {
  const server = createGrpcServer({ runtime, router: echo, listen });
  const error = await server.bind().then(
    () => assert.fail('it was bound'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof BigFleetError);
  return error;
}

describe('listening', () => {
  it('serves every address it was given', async (t) => {
    const path = socketPath(t);
    const server = createGrpcServer({
      runtime,
      router: echo,
      listen: ['127.0.0.1:0', ':0', `unix:${path}`],
    });
    t.after(() => server.stop());
    const bound = await server.bind();
    assert.equal(bound.length, 3);
    for (const address of bound) {
      const answer = await dial(t, address).unary(echoPath, bytes(address));
      assert.equal(text(answer), address);
    }
    assert.equal(server.connectionCount, 3);
  });

  it('says address_in_use, what to do, and leaves nothing bound', async (t) => {
    const { address } = await openServer(t);
    const error = await bindError(['127.0.0.1:0', address]);
    assert.equal(error.code, 'address_in_use');
    assert.match(error.message, new RegExp(`${address}.*another address`));
    assert.equal(error.fields['address'], address);
  });

  for (const host of ['127.0.0.1', 'localhost']) {
    it(`binds nothing on ${host} when it is stopped meanwhile`, async () => {
      const listen = [`${host}:0`, `${host}:0`];
      const server = createGrpcServer({ runtime, router: echo, listen });
      const binding = server.bind();
      await server.stop();
      await assert.rejects(binding, { code: 'cancelled' });
    });
  }

  it('refuses a host that is not of this machine', async () => {
    const error = await bindError(['192.0.2.1:0']);
    assert.match(error.message, /cannot listen on 192\.0\.2\.1:0/);
  });
});

describe('unix sockets', () => {
  it('are 0600 from the first instant, plaintext beside TLS, and gone after stop', async (t) => {
    const path = socketPath(t);
    const tls = await mint(t, { uris: ['bigfleet://shard/s1'] });
    const whoami = unary(async (_request, { peer }) =>
      bytes(`${peer.address} ${peer.identity.kind}`),
    );
    const server = createGrpcServer({
      runtime,
      router: routes({ [echoPath]: whoami }),
      tls,
      listen: [`unix:${path}`],
      stopGraceMs: 50,
    });
    t.after(() => server.stop());
    await server.bind();
    assert.equal(statSync(path).mode & 0o777, 0o600);
    // A shard passes its TLS files for every edge; this edge is exempt.
    const channel = dial(t, `unix:${path}`, { tls, serverIdentity: { kind: 'host-name-only' } });
    assert.equal(text(await channel.unary(echoPath, bytes(''))), `unix:${path} unverified`);
    await server.stop();
    assert.throws(() => statSync(path), { code: 'ENOENT' });
  });

  it('replace the file that a dead server left', async (t) => {
    const path = socketPath(t);
    // Node unlinks on close; a hard link keeps the dead socket's inode, as a crash would.
    const dead = createServer().listen(path);
    await new Promise<void>((resolve) => dead.once('listening', resolve));
    const { linkSync, renameSync } = await import('node:fs');
    linkSync(path, `${path}.kept`);
    await new Promise<void>((resolve) => dead.close(() => resolve()));
    renameSync(`${path}.kept`, path);
    assert.ok(statSync(path).isSocket());
    const { address } = await openServer(t, { listen: [`unix:${path}`] });
    assert.equal(text(await dial(t, address).unary(echoPath, bytes('alive'))), 'alive');
  });

  it('are never taken from a live server, nor from a file of another kind', async (t) => {
    const path = socketPath(t);
    const { address } = await openServer(t, { listen: [`unix:${path}`] });
    assert.equal((await bindError([`unix:${path}`])).code, 'address_in_use');
    assert.equal(text(await dial(t, address).unary(echoPath, bytes('alive'))), 'alive');
    writeFileSync(`${path}.txt`, 'precious');
    assert.equal((await bindError([`unix:${path}.txt`])).code, 'address_in_use');
    assert.equal(statSync(`${path}.txt`).size, 8);
  });
});

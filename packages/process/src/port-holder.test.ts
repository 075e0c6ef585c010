// Proves that the process behind a port is found by its listening socket, and by no other socket.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { test } from 'node:test';
import { portHolder } from './port-holder.ts';

const isLinux = process.platform === 'linux';

test('who listens is named, who is only connected is not', { skip: !isLinux }, async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = connect(port, '127.0.0.1');
  t.after(() => client.destroy());
  await once(client, 'connect');
  const holder = portHolder(port);
  assert.equal(holder?.pid, process.pid);
  assert.match(holder.command, /node/);
  assert.equal(portHolder(client.localPort ?? 0), undefined);
});

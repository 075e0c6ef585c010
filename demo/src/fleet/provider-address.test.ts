// Proves that the address of the demo's provider is one that works on this host, and that it is called
// fleet-wide only when it is not a loopback address.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { test } from 'node:test';
import { realRuntime } from '@bigfleet/base/real';
import { HOST } from '../places.ts';
import { providerAddress } from './provider-address.ts';

test('who dials the name reaches what listens', async (t) => {
  const { listenHost, dialHost, isFleetWide } = await providerAddress(realRuntime());
  t.diagnostic(`listens on ${listenHost}, dialled as ${dialHost}`);
  if (!isFleetWide) return assert.equal(dialHost, HOST);
  assert.doesNotMatch(dialHost, /^127\.|^localhost$|^$/);
  const server = net.createServer((socket) => socket.end('here')).listen(0, listenHost);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const socket = net.connect({ host: dialHost, port, family: 4 });
  const [data] = (await once(socket, 'data')) as [Buffer];
  assert.equal(data.toString(), 'here');
  socket.destroy();
  server.close();
});

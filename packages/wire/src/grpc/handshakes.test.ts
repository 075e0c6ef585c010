// Proves over real sockets that so many TLS handshakes run at once and no more, that who says nothing
// takes nobody's turn, and that waiting is bounded in number and in time.

import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { HandshakeGate } from './handshake-gate.ts';
import { maxHandshakes } from './limits.ts';
import {
  bytes,
  echoPath,
  eventually,
  mint,
  openServer,
  rawSocket,
  text,
} from './testing/fixture.ts';

/** The first byte of a TLS record: a handshake that began and does not go on. */
const HALF_SAID = Buffer.of(0x16);

describe('a TLS listener', () => {
  it('runs 64 handshakes at once; the next has its turn when one is over', async (t) => {
    const tls = await mint(t, { uris: ['bigfleet://admin'] });
    const opened = await openServer(t, { tls });
    const dialled = opened.dial({ tls, serverIdentity: { kind: 'admin' } });
    const silent = await Promise.all(
      Array.from({ length: 2 * maxHandshakes }, () => rawSocket(t, opened.address)),
    );
    assert.equal(text(await dialled.unary(echoPath, bytes('hi'))), 'hi', 'silence costs no turn');
    for (const socket of silent.slice(0, maxHandshakes)) socket.write(HALF_SAID);
    const second = opened.dial({ tls, serverIdentity: { kind: 'admin' } });
    let isServed = false;
    const answer = second.unary(echoPath, bytes('late')).then((message) => {
      isServed = true;
      return text(message);
    });
    assert.equal(text(await dialled.unary(echoPath, bytes('on'))), 'on', 'who is in is served');
    await eventually('its connection is there', () => opened.server.connectionCount >= 130);
    for (let round = 0; round < 20; round++) await dialled.unary(echoPath, bytes('on'));
    assert.equal(isServed, false);
    silent[0]?.destroy();
    assert.equal(await answer, 'late');
  });
});

interface GateStage {
  readonly gate: HandshakeGate;
  readonly begun: Socket[];
  readonly reasons: string[];
  connect(firstBytes?: Buffer): Promise<Socket>;
}

async function gateStage(
  t: TestContext,
  limits: { maxRunning: number; maxWaiting: number; timeoutMs: number },
): Promise<GateStage> {
  const begun: Socket[] = [];
  const reasons: string[] = [];
  const gate = new HandshakeGate({
    ...limits,
    begin: (socket) => begun.push(socket.resume()),
    refused: (_, reason) => reasons.push(reason.message),
  });
  const server = createServer((socket) => {
    socket.on('error', () => {});
    gate.add(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    gate.destroyAll();
    server.close();
  });
  const bound = server.address();
  assert.ok(bound !== null && typeof bound !== 'string');
  const connect = async (firstBytes = HALF_SAID): Promise<Socket> => {
    const socket = await rawSocket(t, `127.0.0.1:${bound.port}`);
    if (firstBytes.length > 0) socket.write(firstBytes);
    return socket;
  };
  return { gate, begun, reasons, connect };
}

describe('the gate', () => {
  it('begins in the order in which peers spoke, as places become free', async (t) => {
    const stage = await gateStage(t, { maxRunning: 2, maxWaiting: 10, timeoutMs: 10_000 });
    const [first] = [await stage.connect(), await stage.connect()];
    await eventually('two run', () => stage.begun.length === 2);
    await stage.connect();
    await stage.connect();
    assert.equal(stage.gate.runningCount, 2);
    first?.destroy();
    await eventually('the third runs', () => stage.begun.length === 3);
    const [, running] = stage.begun;
    assert.ok(running !== undefined);
    stage.gate.done(running);
    stage.gate.done(running);
    await eventually('the fourth runs', () => stage.begun.length === 4);
    assert.equal(stage.gate.runningCount, 2);
    assert.deepEqual(stage.reasons, []);
  });

  it('refuses who finds the waiting room full', async (t) => {
    const stage = await gateStage(t, { maxRunning: 1, maxWaiting: 2, timeoutMs: 10_000 });
    await stage.connect();
    await eventually('one runs', () => stage.begun.length === 1);
    await stage.connect();
    await stage.connect(Buffer.alloc(0));
    const refused = await stage.connect();
    await eventually('it is closed', () => refused.destroyed || refused.readableEnded);
    assert.match(stage.reasons.join(), /^too many connections wait/);
  });

  it('closes who waits too long, silent or not', async (t) => {
    const stage = await gateStage(t, { maxRunning: 1, maxWaiting: 10, timeoutMs: 3_000 });
    await stage.connect();
    await eventually('one runs', () => stage.begun.length === 1);
    const waiting = [await stage.connect(), await stage.connect(Buffer.alloc(0))];
    for (const socket of waiting) socket.resume();
    await eventually('both are closed', () => waiting.every(({ readableEnded }) => readableEnded));
    assert.deepEqual(stage.reasons, ['no handshake in time', 'no handshake in time']);
    assert.equal(stage.begun.length, 1);
  });
});

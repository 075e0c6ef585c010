// Proves the life of a session: who may open one, that there is one per cluster and it is the
// newest, that ends are told with their reason, and that no stream lingers.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PeerIdentity, RpcError } from '@bigfleet/wire';
import { ALL, clusterIdentity, rollup, Stage } from './testing/stage.ts';
import type { TestOperator } from '../session/testing/test-operator.ts';

function status(operator: TestOperator): string {
  const { ending } = operator;
  return ending instanceof RpcError ? `${ending.code} ${ending.message}` : String(ending);
}

const HELLO_MISSING = 'INVALID_ARGUMENT session: first frame must be Hello with cluster_id';

test('hello is acknowledged with term, epoch and what both sides know', async () => {
  const stage = new Stage('hello');
  const operator = await stage.connect('blue', ['node-identity', 'time-travel', 'node-identity']);
  assert.deepEqual(operator.all('ack')[0]?.extensions, ['node-identity']);
  assert.equal(operator.all('ack')[0]?.coordinatorTerm, 7n);
  assert.equal(operator.all('ack')[0]?.shardEpoch, 3n);
  assert.deepEqual(operator.echoes, ['hello', 'resync']);
  assert.equal(await stage.metric('active_sessions'), 1);
  assert.equal(await stage.metric('session_lifecycle_total', 'event="installed"'), 1);
  assert.equal(stage.logged('operator session opened').length, 1);
  stage.assertNoBugs();
});

test('anything but a hello with a cluster id first ends the stream', async () => {
  const stage = new Stage('first-frame');
  const ack = { case: 'reclaimAck', value: { instructionId: 'x' } } as const;
  const cases: readonly [string, (operator: TestOperator) => void, string][] = [
    ['no id', (o) => o.hello(''), HELLO_MISSING],
    ['another frame', (o) => o.send(ack), HELLO_MISSING],
    ['a roll-up', (o) => o.send({ case: 'rollup', value: rollup() }), HELLO_MISSING],
    ['no frame at all', (o) => o.leave(), HELLO_MISSING],
    ['an unset oneof', (o) => o.send({ case: undefined }), HELLO_MISSING],
    ['a bad id', (o) => o.hello('a/b'), 'INVALID_ARGUMENT id_malformed'],
  ];
  for (const [name, say, expected] of cases) {
    const operator = stage.dial('host');
    say(operator);
    await stage.settle();
    assert.ok(status(operator).startsWith(expected), `${name}: ${status(operator)}`);
  }
  assert.equal(stage.operators.sessions.size, 0);
  stage.assertNoBugs();
});

test('a stream that says nothing is closed after ten seconds', async () => {
  const stage = new Stage('silent');
  const operator = stage.dial('host');
  await stage.time.runFor(9_900);
  assert.equal(operator.ending, undefined);
  await stage.time.runFor(300);
  assert.equal(status(operator), 'INVALID_ARGUMENT session: no Hello with cluster_id within 10 s');
});

test('under mTLS the SAN decides, and the common name only on demand', async () => {
  const admin: PeerIdentity = {
    kind: 'verified',
    role: 'admin',
    id: '',
    san: 'bigfleet://admin',
    commonName: 'blue',
  };
  const twoSans: PeerIdentity = { kind: 'unusable', reason: 'identity_ambiguous', presented: [] };
  const cases: readonly [string, PeerIdentity | undefined, boolean, boolean][] = [
    ['own SAN', clusterIdentity('blue'), false, true],
    ['own SAN, CN not looked at', clusterIdentity('blue', 'other'), false, true],
    ['own SAN and CN', clusterIdentity('blue', 'blue'), true, true],
    ['own SAN, other CN', clusterIdentity('blue', 'other'), true, false],
    ['own SAN, no CN', clusterIdentity('blue'), true, false],
    ['SAN of another cluster', clusterIdentity('green', 'blue'), false, false],
    ['another role', admin, false, false],
    ['two SANs', twoSans, false, false],
    ['no certificate', undefined, false, false],
  ];
  for (const [name, identity, requireSessionCn, isAdmitted] of cases) {
    const stage = new Stage(name, { transport: 'mtls', requireSessionCn });
    const operator = stage.dial('host', identity).hello('blue');
    await stage.settle();
    const rejected = await stage.metric('session_identity_rejected_total');
    assert.equal(operator.echoes.includes('hello'), isAdmitted, name);
    assert.equal(rejected, isAdmitted ? 0 : 1, name);
    assert.equal(stage.logged('operator session identity rejected').length, rejected, name);
    if (!isAdmitted) assert.ok(status(operator).startsWith('PERMISSION_DENIED'), name);
  }
});

test('an impostor does not touch the live session', async () => {
  const stage = new Stage('impostor', { transport: 'mtls' });
  const real = stage.dial('blue', clusterIdentity('blue')).hello('blue');
  await stage.settle();
  const impostor = stage.dial('green', clusterIdentity('green')).hello('blue');
  await stage.settle();
  assert.ok(impostor.ending instanceof RpcError);
  assert.equal(real.ending, undefined);
  assert.equal(await stage.metric('session_lifecycle_total', 'event="replaced"'), 0);
});

test('a later hello: the same cluster is acknowledged, another ends the stream', async () => {
  const stage = new Stage('re-hello', { transport: 'mtls' });
  const operator = stage.dial('blue', clusterIdentity('blue')).hello('blue').hello('blue', ALL);
  await stage.settle();
  assert.equal(operator.echoes.filter((echo) => echo === 'hello').length, 2);
  operator.hello('green');
  await stage.settle();
  assert.ok(status(operator).startsWith('PERMISSION_DENIED'));
  assert.equal(await stage.metric('session_identity_rejected_total'), 1);
  assert.equal(stage.operators.sessions.size, 0);
});

test('a newer session ends the old one, whose late clean-up leaves the successor', async () => {
  const stage = new Stage('replace');
  const old = await stage.connect('blue');
  const successor = stage.dial('blue-2').hello('blue');
  await stage.settle();
  assert.equal(status(old), 'ABORTED session replaced');
  assert.equal(successor.ending, undefined);
  await stage.time.runFor(60_000);
  assert.equal(stage.operators.sessions.size, 1);
  assert.ok(stage.operators.sessions.sessionOf('blue')?.isOpen);
  assert.equal(await stage.metric('session_lifecycle_total', 'event="replaced"'), 1);
  assert.equal(await stage.metric('session_lifecycle_total', 'event="removed"'), 0);
  assert.equal(await stage.metric('active_sessions'), 1);
  successor.leave();
  await stage.settle();
  assert.equal(stage.operators.sessions.size, 0);
  assert.equal(await stage.metric('session_lifecycle_total', 'event="removed"'), 1);
});

test('beyond the limit a new cluster is refused, a known one may return', async () => {
  const stage = new Stage('limit', { options: { maxSessions: 2 } });
  await stage.connect('a');
  await stage.connect('b');
  const third = stage.dial('c').hello('c');
  const again = stage.dial('b-2').hello('b');
  await stage.settle();
  assert.ok(status(third).startsWith('RESOURCE_EXHAUSTED session_limit'));
  assert.equal(again.echoes[0], 'hello');
});

test('an operator that vanishes is removed, and its outbox with it', async () => {
  const stage = new Stage('vanish');
  await stage.connect('blue');
  stage.network.apply({ kind: 'crash', host: 'blue' });
  await stage.time.runFor(1_000);
  assert.equal(stage.operators.sessions.size, 0);
  assert.equal(await stage.metric('outbox_frames'), 0);
  assert.equal(stage.logged('operator session recv error').length, 1);
  assert.equal(stage.logged('operator session closed').length, 1);
  stage.assertNoBugs();
});

test('bytes that are no frame end the session with a clear error; unknown frames do not', async () => {
  const stage = new Stage('garbage');
  const operator = await stage.connect('blue');
  operator.send({ case: undefined });
  await stage.settle();
  assert.equal(operator.ending, undefined);
  assert.equal(await stage.metric('session_frames_dropped_total', 'reason="unknown_frame"'), 1);
  assert.equal(stage.logged('operator message handling').length, 1);
  const raw = stage.channel('raw').stream('/bigfleet.v1alpha1.Shard/Session', garbage());
  await assert.rejects(
    Promise.all([raw.next(), stage.settle()]),
    (error) => error instanceof RpcError && error.code === 'INVALID_ARGUMENT',
  );
});

async function* garbage(): AsyncIterable<Uint8Array> {
  yield Uint8Array.of(0x0a, 0x05, 0x0a, 0xff);
}

test('stopping ends every stream, with or without a hello, and admits none', async () => {
  const stage = new Stage('stop');
  const operators = [await stage.connect('a'), await stage.connect('b'), stage.dial('mute')];
  await stage.settle();
  const { signal } = new AbortController();
  const pull = { cluster: 'a', machineId: 'm', fingerprint: 'f', requirements: [], signal };
  const pulled = stage.operators.bootstrap.pull(pull);
  const drain = { kind: 'Reclaim', machineId: 'm', cluster: 'a', graceSeconds: 9 } as const;
  stage.operators.drains.begin({ ...drain, preemptorPriority: 0, reasonCode: 'phase3.excess' });
  stage.operators.stop();
  await stage.settle();
  assert.deepEqual(
    operators.map(({ ending }) => ending),
    ['OK', 'OK', 'OK'],
  );
  const late = stage.dial('late').hello('late');
  await stage.settle();
  assert.ok(status(late).startsWith('UNAVAILABLE'));
  assert.equal(stage.operators.sessions.size, 0);
  assert.deepEqual(await pulled, { kind: 'cancelled' });
  stage.network.close();
  assert.equal(stage.time.pendingTimers, 0);
  assert.equal(stage.fired.length, 0);
  stage.assertNoBugs();
});

// Proves the bootstrap pull: correlation by unguessable ids bound to a cluster, an end for every
// wait, reissue after a reconnect, lifetimes, and the hold-off after a refusal.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Stage } from '../operators/testing/stage.ts';
import type { TestOperator } from '../session/testing/test-operator.ts';
import {
  type BootstrapBlob,
  type BootstrapOutcome,
  type BootstrapPull,
  isFresh,
} from './bootstrap-requests.ts';

function pullOf(changes: Partial<BootstrapPull> = {}): BootstrapPull {
  const requirements = [{ key: 'zone', operator: 1 as const, values: ['a', 'b'] }];
  const { signal } = new AbortController();
  return { cluster: 'blue', machineId: 'm1', fingerprint: 'f', requirements, signal, ...changes };
}

function answer(
  operator: TestOperator,
  value: { readonly userData?: Uint8Array; readonly ttlSeconds?: bigint; readonly error?: string },
): void {
  const requestId = operator.all('bootstrapRequest').at(-1)?.requestId ?? '';
  operator.send({ case: 'bootstrapResponse', value: { requestId, ...value } });
}

/** Asks for the outcome: undefined while it is pending. */
function watch(outcome: Promise<BootstrapOutcome>): () => BootstrapOutcome | undefined {
  let seen: BootstrapOutcome | undefined;
  outcome.then(
    (value) => (seen = value),
    (error: unknown) => assert.fail(String(error)),
  );
  return () => seen;
}

/** The blob of a pull that got one. */
function blobOf(outcome: () => BootstrapOutcome | undefined): BootstrapBlob {
  const seen = outcome();
  assert.ok(seen?.kind === 'blob', `got ${seen?.kind ?? 'nothing'}`);
  return seen.blob;
}

test('a request carries the need, and its answer the blob, unseen by logs', async () => {
  const stage = new Stage('answer');
  const operator = await stage.connect('blue');
  const outcome = watch(stage.operators.bootstrap.pull(pullOf()));
  await stage.settle();
  const [request] = operator.all('bootstrapRequest');
  assert.match(request?.requestId ?? '', /^[0-9a-f]{16}$/);
  assert.equal(request?.clusterId, 'blue');
  assert.equal(request?.machineId, 'm1');
  assert.deepEqual(request?.requirements[0]?.values, ['a', 'b']);
  answer(operator, { userData: Buffer.from('s3cret-token'), ttlSeconds: 600n });
  await stage.settle();
  const { userData } = blobOf(outcome);
  assert.equal(Buffer.from(userData.reveal()).toString(), 's3cret-token');
  assert.ok(!JSON.stringify(outcome()).includes('s3cret'));
  assert.ok(!stage.log.lines.join('').includes('s3cret'));
  assert.equal(await stage.metric('request_bootstrap_seconds_count'), 1);
  assert.equal(stage.operators.bootstrap.pendingCount, 0);
});

test('a lifetime is kept from receipt on; zero means at once, never expired', async () => {
  const stage = new Stage('ttl');
  const operator = await stage.connect('blue');
  for (const [ttlSeconds, freshAtMs, staleAtMs] of [
    [300n, 299_999, 300_000],
    [0n, 1e9, Number.POSITIVE_INFINITY],
    [-5n, 1e9, Number.POSITIVE_INFINITY],
    [2n ** 62n, 1e12, Number.POSITIVE_INFINITY],
  ] as const) {
    const outcome = watch(stage.operators.bootstrap.pull(pullOf()));
    await stage.settle();
    answer(operator, { userData: Uint8Array.of(1), ttlSeconds });
    await stage.settle();
    const blob = blobOf(outcome);
    assert.ok(isFresh(blob, blob.receivedAtMs + freshAtMs), String(ttlSeconds));
    if (Number.isFinite(staleAtMs)) assert.ok(!isFresh(blob, blob.receivedAtMs + staleAtMs));
  }
});

test('every wait ends: nobody to ask, timeout, cancellation', async () => {
  const stage = new Stage('ends');
  const { bootstrap } = stage.operators;
  assert.deepEqual(await bootstrap.pull(pullOf()), { kind: 'no_session' });
  await stage.connect('blue');
  const late = watch(bootstrap.pull(pullOf()));
  await stage.time.runFor(29_900);
  assert.equal(late(), undefined);
  await stage.time.runFor(300);
  assert.deepEqual(late(), { kind: 'timeout' });
  const controller = new AbortController();
  const cancelled = watch(bootstrap.pull(pullOf({ signal: controller.signal })));
  await stage.settle();
  controller.abort();
  await stage.settle();
  assert.deepEqual(cancelled(), { kind: 'cancelled' });
  assert.deepEqual(await bootstrap.pull(pullOf({ signal: AbortSignal.abort() })), {
    kind: 'cancelled',
  });
  assert.equal(bootstrap.pendingCount, 0);
});

test('a request survives a reconnect under its id, and its deadline stays', async () => {
  const stage = new Stage('reissue');
  const first = await stage.connect('blue');
  const other = await stage.connect('green');
  const outcome = watch(stage.operators.bootstrap.pull(pullOf()));
  await stage.time.runFor(10_000);
  stage.network.apply({ kind: 'crash', host: 'blue' });
  await stage.time.runFor(5_000);
  assert.ok(outcome() === undefined, 'losing the session ends nothing');
  stage.network.apply({ kind: 'restart', host: 'blue' });
  const second = await stage.connect('blue');
  const id = first.all('bootstrapRequest')[0]?.requestId;
  assert.deepEqual(
    second.all('bootstrapRequest').map(({ requestId }) => requestId),
    [id],
  );
  assert.deepEqual(other.all('bootstrapRequest'), []);
  const bystander = stage.dial('green-2').hello('green');
  await stage.settle();
  assert.deepEqual(bystander.all('bootstrapRequest'), []);
  assert.equal(await stage.metric('bootstrap_reissued_total'), 1);
  answer(second, { userData: Uint8Array.of(9) });
  await stage.settle();
  assert.equal(outcome()?.kind, 'blob');
});

test('without a successor before the deadline the outcome is no_session', async () => {
  const stage = new Stage('no-successor');
  await stage.connect('blue');
  const outcome = watch(stage.operators.bootstrap.pull(pullOf()));
  await stage.settle();
  stage.network.apply({ kind: 'crash', host: 'blue' });
  await stage.time.runFor(31_000);
  assert.deepEqual(outcome(), { kind: 'no_session' });
});

test('an answer counts only from the cluster that was asked; unknown ids are nothing', async () => {
  const stage = new Stage('foreign');
  const blue = await stage.connect('blue');
  const green = await stage.connect('green');
  const outcome = watch(stage.operators.bootstrap.pull(pullOf()));
  await stage.settle();
  const requestId = blue.all('bootstrapRequest')[0]?.requestId ?? '';
  const forged = { requestId, userData: Buffer.from('evil') };
  green.send({ case: 'bootstrapResponse', value: forged });
  blue.send({ case: 'bootstrapResponse', value: { requestId: 'unknown' } });
  await stage.settle();
  assert.equal(outcome(), undefined);
  const dropped = 'reason="foreign_bootstrap_response"';
  assert.equal(await stage.metric('session_frames_dropped_total', dropped), 1);
  assert.match(stage.logged('operator message handling')[0] ?? '', /cluster=green/);
  blue.send({ case: 'bootstrapResponse', value: { requestId, userData: Buffer.from('good') } });
  blue.send({ case: 'bootstrapResponse', value: { requestId, userData: Buffer.from('again') } });
  await stage.settle();
  assert.equal(Buffer.from(blobOf(outcome).userData.reveal()).toString(), 'good');
});

test('a refusal holds the profile off for 30 s, doubling to 10 min; a success clears it', async () => {
  const stage = new Stage('hold-off');
  const { bootstrap } = stage.operators;
  const operator = await stage.connect('blue');
  const heldSeconds: number[] = [];
  for (let i = 0; i < 7; i++) {
    const outcome = watch(bootstrap.pull(pullOf()));
    await stage.settle();
    answer(operator, { error: 'unsupported requirement key: secret-detail' });
    await stage.settle();
    assert.equal(outcome()?.kind, 'refused');
    const remainingMs = bootstrap.holdOffs.remainingMs('blue', 'f');
    heldSeconds.push(Math.round(remainingMs / 1_000));
    assert.deepEqual(await bootstrap.pull(pullOf()), { kind: 'held_off', remainingMs });
    assert.deepEqual(bootstrap.holdOffs.heldOf('blue'), ['f']);
    await stage.time.runFor(remainingMs);
    assert.deepEqual(bootstrap.holdOffs.heldOf('blue'), []);
  }
  assert.deepEqual(heldSeconds, [30, 60, 120, 240, 480, 600, 600]);
  assert.ok(!stage.log.lines.join('').includes('secret-detail'));
  const outcome = watch(bootstrap.pull(pullOf()));
  await stage.settle();
  answer(operator, { userData: Uint8Array.of(1) });
  await stage.settle();
  assert.equal(outcome()?.kind, 'blob');
  assert.equal(bootstrap.holdOffs.size, 0);
});

test('a hold is one per cluster and profile, and refusals within it do not lengthen it', async () => {
  const stage = new Stage('hold-scope');
  const { bootstrap } = stage.operators;
  const operator = await stage.connect('blue');
  await stage.connect('green');
  const outcomes = [1, 2, 3].map(() => watch(bootstrap.pull(pullOf())));
  await stage.settle();
  for (const { requestId } of operator.all('bootstrapRequest')) {
    operator.send({ case: 'bootstrapResponse', value: { requestId, error: 'no' } });
  }
  await stage.settle();
  assert.ok(outcomes.every((one) => one()?.kind === 'refused'));
  assert.ok(bootstrap.holdOffs.remainingMs('blue', 'f') <= 30_000);
  assert.equal(bootstrap.holdOffs.remainingMs('blue', 'other'), 0);
  assert.equal(bootstrap.holdOffs.remainingMs('green', 'f'), 0);
  stage.operators.forget('blue');
  assert.equal(bootstrap.holdOffs.size, 0);
});

/** Far more than an outbox takes. */
const MANY = 3_000;

function pullMany(stage: Stage): (() => BootstrapOutcome | undefined)[] {
  return Array.from({ length: MANY }, (_, at) =>
    watch(stage.operators.bootstrap.pull(pullOf({ machineId: `m${at}` }))),
  );
}

/** Answers whatever was asked and not answered yet, until nothing more is asked. */
async function answerAll(stage: Stage, operator: TestOperator): Promise<number> {
  const answered = new Set<string>();
  for (let isNew = true; isNew; ) {
    isNew = false;
    for (const { requestId } of operator.all('bootstrapRequest')) {
      if (answered.has(requestId)) continue;
      answered.add(requestId);
      isNew = true;
      operator.send({ case: 'bootstrapResponse', value: { requestId } });
    }
    await stage.settle();
  }
  return answered.size;
}

test('thousands are asked some at a time: the session stays, and each gets its blob', async () => {
  const stage = new Stage('many');
  const operator = await stage.connect('blue');
  const outcomes = pullMany(stage);
  await stage.settle();
  assert.equal(operator.all('bootstrapRequest').length, 200);
  assert.equal(await answerAll(stage, operator), MANY);
  assert.ok(outcomes.every((outcome) => outcome()?.kind === 'blob'));
  assert.equal(await stage.metric('sessions_stalled_total'), 0);
  assert.equal(await stage.metric('request_bootstrap_seconds_count'), MANY);
});

test('thousands across a reconnect: what was asked is asked again, then the others', async () => {
  const stage = new Stage('many-again');
  await stage.connect('blue');
  const outcomes = pullMany(stage);
  await stage.settle();
  stage.network.apply({ kind: 'crash', host: 'blue' });
  await stage.time.runFor(1_000);
  stage.network.apply({ kind: 'restart', host: 'blue' });
  const again = await stage.connect('blue');
  assert.equal(await stage.metric('bootstrap_reissued_total'), 200);
  assert.equal(await answerAll(stage, again), MANY);
  assert.ok(outcomes.every((outcome) => outcome()?.kind === 'blob'));
  assert.equal(await stage.metric('sessions_stalled_total'), 0);
});

test('an operator that reads and never answers: all end with their deadline, and new ones are asked', async () => {
  const stage = new Stage('mute');
  const operator = await stage.connect('blue');
  const outcomes = pullMany(stage);
  await stage.time.runFor(30_200);
  assert.ok(outcomes.every((outcome) => outcome()?.kind === 'timeout'));
  assert.equal(operator.all('bootstrapRequest').length, 200, 'nobody is asked only to be given up');
  const late = watch(stage.operators.bootstrap.pull(pullOf({ machineId: 'late' })));
  await stage.settle();
  answer(operator, { userData: Uint8Array.of(1) });
  await stage.settle();
  assert.equal(late()?.kind, 'blob');
});

test('a loss makes room for who waits', async () => {
  const stage = new Stage('loss');
  const operator = await stage.connect('blue');
  const controller = new AbortController();
  const { bootstrap } = stage.operators;
  for (let at = 0; at < 200; at++) {
    watch(bootstrap.pull(pullOf({ machineId: `m${at}`, signal: controller.signal })));
  }
  const next = watch(bootstrap.pull(pullOf({ machineId: 'next' })));
  await stage.settle();
  controller.abort();
  await stage.time.runFor(200);
  assert.equal(operator.all('bootstrapRequest').at(-1)?.machineId, 'next');
  answer(operator, { userData: Uint8Array.of(1) });
  await stage.settle();
  assert.equal(next()?.kind, 'blob');
});

// Proves the lease window (coordinator §3.3): it counts from the sending of the last renewal that
// succeeded, minus a margin, on the monotonic clock, and closes by itself when nobody notices: a
// stalled event loop, whose timers run late, neither answers nor writes.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { BigFleetError, createVirtualRuntime, type VirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { EtcdClient, type GrantedLease } from '../../etcd-client/client.ts';
import { commitChange } from './commit.ts';
import { KeySpace } from './key-space.ts';
import { EtcdLeadership } from './leadership.ts';
import { windowMarginMs } from './options.ts';

const TTL_MS = 5_000;
const WINDOW_MS: number = TTL_MS - windowMarginMs;

interface Rig {
  readonly time: VirtualRuntime;
  readonly client: EtcdClient;
  readonly leadership: EtcdLeadership;
  readonly losses: string[];
  /** The clock goes on while no timer runs. */
  stall(ms: number): void;
  nowMs(): number;
}

function rig(t: TestContext, renew: (lease: GrantedLease) => Promise<GrantedLease>): Rig {
  const time = createVirtualRuntime({ seed: 'lease', drain: drainMicrotasks });
  let stalledMs = 0;
  const { clock } = time.runtime;
  const nowMs = (): number => clock.monotonicMs() + stalledMs;
  const runtime = {
    ...time.runtime,
    clock: { monotonicMs: nowMs, unixNanos: () => clock.unixNanos() },
  };
  // Nothing listens there: what is not replaced below fails.
  const client = new EtcdClient({ runtime, endpoints: ['http://127.0.0.1:1'] });
  t.after(() => client.close());
  client.leaseKeepAlive = (id) => renew({ id, ttlMs: TTL_MS, sentAtMs: nowMs() });
  const losses: string[] = [];
  const leadership = new EtcdLeadership({
    runtime,
    client,
    lease: { id: 7n, ttlMs: TTL_MS, sentAtMs: nowMs() },
    term: 3n,
    leaderRevision: 11n,
    onLost: (reason) => losses.push(reason),
  });
  t.after(() => leadership.lose('resigned'));
  const stall = (ms: number): void => void (stalledMs += ms);
  return { time, client, leadership, losses, stall, nowMs };
}

const never = (): Promise<GrantedLease> =>
  Promise.reject(new BigFleetError('etcd_unavailable', 'nobody answers'));

test('renewals keep it open; from the last one that was sent it lasts a TTL less the margin', async (t) => {
  let lastSentMs = 0;
  let isUp = true;
  const r = rig(t, (lease) => {
    if (!isUp) return never();
    lastSentMs = lease.sentAtMs;
    return Promise.resolve(lease);
  });
  await r.time.runFor(10 * TTL_MS);
  assert.equal(r.leadership.isWithinWindow(), true);
  isUp = false;
  await r.time.runFor(lastSentMs + WINDOW_MS - 1 - r.nowMs());
  assert.deepEqual([r.leadership.stillHolds(), r.losses], [true, []]);
  await r.time.runFor(1);
  assert.deepEqual([r.leadership.isWithinWindow(), r.losses], [false, ['lease_lost']]);
});

test('an answer that took long extends the window from its question, not from itself', async (t) => {
  const gate = Promise.withResolvers<void>();
  const r = rig(t, (lease) => gate.promise.then(() => lease));
  await r.time.runFor(TTL_MS / 3);
  const askedMs = r.nowMs();
  await r.time.runFor(1_500);
  gate.resolve();
  await r.time.runFor(0);
  r.client.leaseKeepAlive = never;
  await r.time.runFor(askedMs + WINDOW_MS - 1 - r.nowMs());
  assert.equal(r.leadership.isWithinWindow(), true);
  await r.time.runFor(1);
  assert.equal(r.leadership.isWithinWindow(), false);
});

test('a lease that etcd does not know any more ends it at once', async (t) => {
  const r = rig(t, () => Promise.reject(new BigFleetError('etcd_lease_gone', 'revoked')));
  await r.time.runFor(TTL_MS / 3 + 1);
  assert.deepEqual([r.leadership.lost.reason, r.losses], ['lease_lost', ['lease_lost']]);
});

test('a stalled loop: closed without a timer, and noticed by the first who asks', (t) => {
  const r = rig(t, never);
  r.stall(WINDOW_MS - 1);
  assert.equal(r.leadership.stillHolds(), true);
  r.stall(1);
  assert.equal(r.leadership.isWithinWindow(), false);
  assert.deepEqual(r.losses, [], 'no timer has run');
  assert.equal(r.leadership.stillHolds(), false);
  assert.deepEqual([r.leadership.lost.reason, r.losses], ['lease_lost', ['lease_lost']]);
});

test('a stalled loop sends no commit', async (t) => {
  const r = rig(t, never);
  let sentCount = 0;
  r.client.txn = () => {
    sentCount += 1;
    return Promise.reject(new Error('it was sent'));
  };
  r.stall(WINDOW_MS);
  const change = { writes: [], reads: [], gc: [], assignmentRevision: 0, ledgerGeneration: 0 };
  const request = { expectedIndex: 0, commandId: 'c', change, deadlineMs: r.nowMs() + 1_000 };
  const { runtime } = r.time;
  const ledger = { runtime, client: r.client, keys: new KeySpace('/bigfleet/') };
  assert.deepEqual(await commitChange(ledger, r.leadership, request), {
    kind: 'refused',
    reason: 'deposed',
  });
  assert.equal(sentCount, 0);
});

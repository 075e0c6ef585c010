// Proves the small parts of the sagas: what an ack answers, what is worth moving, when a finished
// transfer may be forgotten, how ids order, and that a ring is never slept over.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createVirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import {
  decode,
  encodeInit,
  InstructAck_Outcome,
  InstructAckSchema,
  ShardReportSchema,
  TransferRole,
  TransferState,
} from '@bigfleet/wire';
import type { PendingInstruction } from '../instructions/instruction-queue.ts';
import { ledgerOf, registered } from '../rebalance/testing/pass-world.ts';
import { pictureOf, SoftState } from '../reports/soft-state.ts';
import type { CommandBody } from '../state/commands.ts';
import { isWorthMoving } from './decide-machines.ts';
import { answerOf } from './saga-facts.ts';
import { Doorbell } from './transfer-driver.ts';
import { collectableBefore } from './retirement.ts';
import { drainId, isDrainId, isLater, transferId } from './transfer-id.ts';

const DAY_MS = 86_400_000;

describe('what an ack answers', () => {
  const answer = (init: object, failures = 0): unknown => {
    const bytes = encodeInit(InstructAckSchema, { instructionId: 'i', ...init });
    const pending = { failures } as PendingInstruction;
    return answerOf(pending, decode(InstructAckSchema, bytes, 'INTERNAL'));
  };
  const covered = { resources: { cpu: '4' } };
  const { ACCEPTED, REJECTED_INVALID, REJECTED_STALE, FAILED } = InstructAck_Outcome;

  it('accepted with machines, refused, failed five times', () => {
    assert.deepEqual(answer({ outcome: ACCEPTED, machineIds: ['m'], covered }), {
      kind: 'accepted',
      machineIds: ['m'],
      covered: [['cpu', '4']],
    });
    assert.deepEqual(answer({ outcome: REJECTED_INVALID, reasonCode: 'dry_run' }), {
      kind: 'rejected',
      reasonCode: 'dry_run',
    });
    assert.deepEqual(answer({ outcome: FAILED }, 5), { kind: 'failed' });
  });

  it('nothing: a failure that is redelivered, a stale term, a bare memory of having done it', () => {
    assert.equal(answer({ outcome: FAILED }, 4), undefined);
    assert.equal(answer({ outcome: REJECTED_STALE }), undefined);
    assert.equal(answer({ outcome: ACCEPTED, reasonCode: 'duplicate_redelivery' }), undefined);
  });
});

it('ten percent of some dimension is worth a move', () => {
  const deficit = [
    ['cpu', '100'],
    ['memory', '100Gi'],
  ] as const;
  for (const [given, isWorth] of [
    [[['cpu', '10']], true],
    [[['cpu', '9999m']], false],
    [
      [
        ['cpu', '1'],
        ['memory', '10Gi'],
      ],
      true,
    ],
    [[['nvidia.com/gpu', '8']], false],
    [[['cpu', 'nonsense']], false],
    [[], false],
  ] as const) {
    assert.equal(isWorthMoving(given, deficit, 0.1), isWorth, JSON.stringify(given));
  }
});

it('ids order as they were begun, over counts and terms', () => {
  const ids = [transferId(1n, 1), transferId(1n, 16), transferId(2n, 1), transferId(1_001n, 1)];
  for (const [at, id] of ids.entries()) {
    for (const other of ids.slice(0, at)) assert.ok(isLater(id, other), `${id} after ${other}`);
  }
  assert.ok(isDrainId(drainId(1n, 1)) && !isDrainId(transferId(1n, 1)));
});

describe('forgetting', () => {
  const begun: CommandBody = {
    kind: 'BeginTransfer',
    id: 't-1',
    from: 'a',
    to: 'b',
    tier: 1,
    providerAddress: 'p:1',
    reasonCode: '',
    selector: null,
  };
  const aborted: CommandBody = { kind: 'AbortTransfer', id: 't-1', reasonCode: 'ack_timeout' };
  const softWith = (naming: Readonly<Record<string, readonly string[]>>): SoftState => {
    const soft = new SoftState();
    for (const [shardId, ids] of Object.entries(naming)) {
      const transfers = ids.map((transferId) => ({
        transferId,
        role: TransferRole.DONOR,
        state: TransferState.RELEASED,
      }));
      const bytes = encodeInit(ShardReportSchema, { shardId, transfers });
      const clock = { monotonicMs: () => 0, unixNanos: () => 0n };
      soft.replace(pictureOf(decode(ShardReportSchema, bytes, 'INTERNAL'), undefined, clock));
    }
    return soft;
  };
  const state = ledgerOf([...registered(['a', 'b']), begun, aborted]);
  const cases: readonly [string, SoftState, number, boolean][] = [
    ['after a day, when both have forgotten it', softWith({ a: [], b: [] }), DAY_MS + 10, true],
    ['not within a day', softWith({ a: [], b: [] }), DAY_MS, false],
    ['not while one of them names it', softWith({ a: ['t-1'], b: [] }), DAY_MS + 10, false],
    ['not while one of them has not spoken', softWith({ a: [] }), DAY_MS + 10, false],
  ];
  for (const [name, soft, nowMs, isCollected] of cases) {
    it(name, () => {
      assert.equal(collectableBefore(state, soft, nowMs) !== undefined, isCollected);
    });
  }

  it('an open one stays', () => {
    const open = ledgerOf([...registered(['a', 'b']), begun]);
    assert.equal(collectableBefore(open, softWith({ a: [], b: [] }), 9 * DAY_MS), undefined);
  });
});

it('a doorbell wakes at once, keeps one ring, and ends with its signal', async () => {
  const time = createVirtualRuntime({ seed: 1n, drain: drainMicrotasks });
  const bell = new Doorbell();
  const end = new AbortController();
  const waited: number[] = [];
  const loop = (async (): Promise<void> => {
    while (!end.signal.aborted) {
      await bell.wait(time.runtime, 1_000, end.signal);
      waited.push(time.nowMs);
    }
  })();
  await time.runFor(100);
  bell.ring();
  bell.ring();
  await time.runFor(100);
  await time.runFor(1_000);
  end.abort();
  await loop;
  assert.deepEqual(waited, [100, 1_100, 1_200]);
  assert.equal(time.pendingTimers, 0);
});

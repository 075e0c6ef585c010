// Proves the life of an instruction (coordinator §8): minting, order, the bound, and every row of
// the ack table.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createVirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { decode, encodeInit, type InstructAck, InstructAckSchema } from '@bigfleet/wire';
import {
  type AckEffect,
  InstructionQueue,
  type InstructionPayload,
  MAX_PENDING_PER_SHARD,
  type PendingInstruction,
} from './instruction-queue.ts';

const payload: InstructionPayload = {
  case: 'assignDomain',
  value: {
    $typeName: 'bigfleet.v1alpha1.AssignDomain',
    topologyKey: 'zone',
    topologyValue: 'a',
  },
};

interface OpenQueue {
  readonly queue: InstructionQueue;
  readonly heard: string[];
  settle(shardId: string, ack: InstructAck): AckEffect | undefined;
}

function openQueue(): OpenQueue {
  const { runtime } = createVirtualRuntime({ seed: 7n, drain: drainMicrotasks });
  const queue = new InstructionQueue(runtime, 42n);
  const heard: string[] = [];
  const settle = (shardId: string, ack: InstructAck): AckEffect | undefined => {
    const settled = queue.settle(shardId, ack);
    if (settled === undefined) return undefined;
    const { effect, pending } = settled;
    heard.push(`${pending.transferId} ${ack.outcome} ${pending.failures}`);
    return effect;
  };
  return { queue, heard, settle };
}

function put(queue: InstructionQueue, shardId: string, transferId = 't'): PendingInstruction {
  const pending = queue.enqueue(shardId, payload, transferId);
  assert.notEqual(pending, 'full');
  return pending as PendingInstruction;
}

function ackOf(instructionId: string, outcome: number): InstructAck {
  const bytes = encodeInit(InstructAckSchema, {
    instructionId,
    outcome: outcome as InstructAck['outcome'],
  });
  return decode(InstructAckSchema, bytes, 'INTERNAL');
}

describe('minting', () => {
  it('gives the term, a sequence from 1 over all shards, and 16 hex digits', () => {
    const { queue } = openQueue();
    const minted = ['a', 'b', 'a'].map((shard) => put(queue, shard).instruction);
    assert.deepEqual(
      minted.map(({ sequenceNumber }) => sequenceNumber),
      [1n, 2n, 3n],
    );
    for (const { coordinatorTerm, instructionId } of minted) {
      assert.equal(coordinatorTerm, 42n);
      assert.match(instructionId, /^[0-9a-f]{16}$/);
    }
    assert.equal(new Set(minted.map(({ instructionId }) => instructionId)).size, 3);
  });

  it('refuses the 257th pending for one shard and no other', () => {
    const { queue } = openQueue();
    for (let i = 0; i < MAX_PENDING_PER_SHARD; i++) put(queue, 'a');
    assert.equal(queue.enqueue('a', payload, ''), 'full');
    assert.notEqual(queue.enqueue('b', payload, ''), 'full');
    assert.equal(queue.count('a'), 256);
  });
});

describe('delivery', () => {
  it('repeats everything unacknowledged in ascending sequence, a failed one in its old place', () => {
    const { queue } = openQueue();
    const first = put(queue, 'a');
    put(queue, 'a');
    put(queue, 'b');
    put(queue, 'a');
    queue.settle('a', ackOf(first.instruction.instructionId, 4));
    const sequences = queue.pending('a').map(({ instruction }) => instruction.sequenceNumber);
    assert.deepEqual(sequences, [1n, 2n, 4n]);
    assert.deepEqual(queue.pending('a')[0]?.instruction, first.instruction);
  });

  it('forgets everything of a removed shard', () => {
    const { queue } = openQueue();
    put(queue, 'a');
    put(queue, 'b');
    queue.clear('a');
    assert.deepEqual([queue.count('a'), queue.count('b')], [0, 1]);
  });
});

describe('acks', () => {
  const rows: { name: string; outcome: number; effect: AckEffect; left: number; heard: string }[] =
    [
      { name: 'ACCEPTED', outcome: 1, effect: 'accepted', left: 0, heard: 't 1 0' },
      { name: 'REJECTED_STALE', outcome: 2, effect: 'stale', left: 0, heard: 't 2 0' },
      { name: 'REJECTED_INVALID', outcome: 3, effect: 'invalid', left: 0, heard: 't 3 0' },
      { name: 'FAILED', outcome: 4, effect: 'kept', left: 1, heard: 't 4 1' },
      { name: 'an unset outcome', outcome: 0, effect: 'kept', left: 1, heard: 't 0 1' },
      { name: 'an unknown outcome', outcome: 99, effect: 'kept', left: 1, heard: 't 99 1' },
    ];
  for (const { name, outcome, effect, left, heard: line } of rows) {
    it(`${name} → ${effect}`, () => {
      const { queue, heard, settle } = openQueue();
      const { instructionId } = put(queue, 'a').instruction;
      assert.equal(settle('a', ackOf(instructionId, outcome)), effect);
      assert.equal(queue.count('a'), left);
      assert.deepEqual(heard, [line]);
    });
  }

  it('FAILED is redelivered under the same id and dropped after the fifth', () => {
    const { queue, heard, settle } = openQueue();
    const { instructionId } = put(queue, 'a').instruction;
    const effects = [1, 2, 3, 4, 5, 6].map(() => settle('a', ackOf(instructionId, 4)));
    assert.deepEqual(effects, ['kept', 'kept', 'kept', 'kept', 'exhausted', undefined]);
    assert.equal(queue.count('a'), 0);
    assert.equal(heard.at(-1), 't 4 5');
    assert.equal(heard.length, 5);
  });

  it('of an unknown id, or from another shard, changes nothing', () => {
    const { queue, heard, settle } = openQueue();
    const { instructionId } = put(queue, 'a').instruction;
    assert.equal(settle('a', ackOf('0000000000000000', 1)), undefined);
    assert.equal(settle('b', ackOf(instructionId, 1)), undefined);
    assert.equal(queue.count('a'), 1);
    assert.deepEqual(heard, []);
  });
});

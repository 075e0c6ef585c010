// Proves that roll-ups are recognised without decoding, that every other frame decodes to what was
// sent, and that odd frames are ignored or refused but never misread.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeInit, OperatorMessageSchema, RpcError } from '@bigfleet/wire';
import fc from 'fast-check';
import { MAX_SMALL_FRAME_BYTES, readOperatorFrame } from './operator-frame.ts';
import { rollup, rollupBytes } from '../operators/testing/stage.ts';
import type { OperatorFrameInit } from './testing/test-operator.ts';

function frame(payload: NonNullable<OperatorFrameInit['payload']>): Uint8Array {
  return encodeInit(OperatorMessageSchema, { payload });
}

test('a roll-up keeps its bytes', () => {
  const shape = { clusterId: 'blue', needCount: 3 };
  const read = readOperatorFrame(frame({ case: 'rollup', value: rollup(shape) }));
  assert.ok(read.case === 'rollup');
  assert.deepEqual(Buffer.from(read.bytes), Buffer.from(rollupBytes(shape)));
  const empty = readOperatorFrame(frame({ case: 'rollup', value: {} }));
  assert.ok(empty.case === 'rollup' && empty.bytes.length === 0);
});

test('a roll-up with broken content is still a roll-up: its lane refuses it', () => {
  const read = readOperatorFrame(Uint8Array.of(0x12, 0x02, 0x0a, 0x7f));
  assert.equal(read.case, 'rollup');
});

test('small frames decode', () => {
  const payloads = [
    { case: 'hello', value: { clusterId: 'a', extensions: ['x'] } },
    { case: 'bootstrapResponse', value: { requestId: 'r', userData: Uint8Array.of(1, 2) } },
    { case: 'reclaimAck', value: { instructionId: 'i', nodesStarted: 1 } },
    { case: 'nodeIdentity', value: { nodes: [{ machineId: 'm' }], complete: true } },
  ] as const;
  for (const payload of payloads) {
    const read = readOperatorFrame(
      encodeInit(OperatorMessageSchema, { payload } as OperatorFrameInit),
    );
    assert.equal(read.case, payload.case);
  }
});

test('nothing we know is unknown, two payloads are never half believed', () => {
  const hello = frame({ case: 'hello', value: { clusterId: 'a' } });
  const roll = frame({ case: 'rollup', value: rollup() });
  assert.equal(readOperatorFrame(new Uint8Array()).case, undefined);
  assert.equal(readOperatorFrame(Uint8Array.of(0xca, 0x3e, 0x00)).case, undefined); // field 1001
  assert.equal(readOperatorFrame(Buffer.concat([hello, roll])).case, undefined);
  assert.equal(readOperatorFrame(Buffer.concat([roll, roll])).case, undefined);
  assert.equal(readOperatorFrame(Buffer.concat([roll, hello])).case, 'hello');
});

test('a frame that is no roll-up may not be huge', () => {
  const userData = new Uint8Array(MAX_SMALL_FRAME_BYTES);
  const bytes = frame({ case: 'bootstrapResponse', value: { requestId: 'r', userData } });
  assert.throws(
    () => readOperatorFrame(bytes),
    (error) => error instanceof RpcError && error.code === 'RESOURCE_EXHAUSTED',
  );
});

test('law: no bytes do more than throw an RpcError', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      try {
        readOperatorFrame(bytes);
      } catch (error) {
        assert.ok(error instanceof RpcError);
      }
    }),
    { numRuns: 5_000 },
  );
});

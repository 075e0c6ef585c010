// Proves on 20,000 seeded inputs that no decoder crashes, hangs or touches a prototype, and that
// the judge would notice. BIGFLEET_SEED replays a run; decode.long.ts runs a million.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import { MachineSchema } from '../../gen/bigfleet/v1alpha1/provider_pb.ts';
import { type Decoder, fuzzCase, isDecodeError, judge, prototypeNames } from './fuzz.ts';

const INPUTS = 20_000;

test(`${INPUTS} hostile inputs`, { timeout: 120_000 }, (t) => {
  const seed = process.env['BIGFLEET_SEED'] ?? 'decode-1';
  t.diagnostic(`seed ${seed}`);
  const before = prototypeNames();
  const counts = { decoded: 0, refused: 0 };
  const decoders = new Set<string>();
  for (let index = 0; index < INPUTS; index++) {
    const input = fuzzCase(seed, index);
    decoders.add(input.schema.typeName);
    counts[judge(input)] += 1;
  }
  assert.deepEqual(prototypeNames(), before);
  t.diagnostic(`${counts.decoded} decoded, ${counts.refused} refused, ${decoders.size} decoders`);
  // A generator that only makes junk, or only legal bytes, tests nothing.
  assert.ok(counts.decoded > INPUTS / 10 && counts.refused > INPUTS / 10);
  assert.ok(decoders.size >= 100, `only ${decoders.size} decoders`);
});

test('a case is a function of its seed and index', () => {
  for (const index of [0, 1, 2, 19_999]) {
    assert.deepEqual(fuzzCase('a', index).bytes, fuzzCase('a', index).bytes);
  }
  assert.notDeepEqual(
    Array.from({ length: 20 }, (_, index) => fuzzCase('a', index).bytes),
    Array.from({ length: 20 }, (_, index) => fuzzCase('b', index).bytes),
  );
});

test('the judge tells a crash from a refusal', () => {
  assert.ok(isDecodeError(new RangeError('premature EOF')));
  assert.ok(!isDecodeError(new RangeError('Maximum call stack size exceeded')));
  assert.ok(!isDecodeError(new TypeError("Cannot read properties of undefined (reading 'x')")));
  assert.ok(!isDecodeError('premature EOF'));
  const bytes = Uint8Array.of(0x0a, 0x01, 0x61);
  assert.equal(judge({ schema: MachineSchema, kind: 'random', bytes }), 'decoded');
  assert.equal(
    judge({ schema: MachineSchema, kind: 'random', bytes: bytes.subarray(0, 2) }),
    'refused',
  );
});

test('the judge notices a decoder that crashes, refuses good bytes or is unstable', () => {
  const input = {
    schema: MachineSchema,
    kind: 'random',
    bytes: Uint8Array.of(0x0a, 1, 0x61),
  } as const;
  const faulty: Record<'crashes' | 'refuses' | 'grows', Decoder> = {
    crashes: () => {
      throw new TypeError("Cannot read properties of undefined (reading 'x')");
    },
    refuses: () => {
      throw new RangeError('premature EOF');
    },
    grows: (_, bytes) => create(MachineSchema, { id: 'x'.repeat(bytes.length) }),
  };
  for (const [name, decoder] of Object.entries(faulty)) {
    assert.throws(() => judge(input, decoder), /failed on 0a0161/, name);
  }
  // Bad bytes are no excuse for a crash.
  const cut = { ...input, bytes: input.bytes.subarray(0, 1) };
  assert.throws(() => judge(cut, faulty.crashes), /failed on 0a/);
});

test('the prototype watch notices pollution', () => {
  const before = prototypeNames();
  Object.defineProperty(Object.prototype, 'polluted', { value: 1, configurable: true });
  try {
    assert.notDeepEqual(prototypeNames(), before);
  } finally {
    Reflect.deleteProperty(Object.prototype, 'polluted');
  }
});

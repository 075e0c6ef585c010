// Proves that the hand-written encoder says exactly what the generated code would say, for any
// record and any string, and that List entries and single machines are the same bytes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  decode,
  encode,
  encodeInit,
  fromMap,
  MachineListSchema,
  MachineSchema,
} from '@bigfleet/wire';
import fc from 'fast-check';
import { type MachineRecord, publishedProbability } from '../model/machine.ts';
import { capacityNumbers, stateNumbers } from './wire-names.ts';
import { encodeMachine, writeListEntry } from './encode-machine.ts';
import { ProtobufWriter } from './protobuf-writer.ts';
import { recordArbitrary } from './testing/record-arbitrary.ts';

function generated(record: MachineRecord): Uint8Array {
  const { host, allocatable } = record;
  return encodeInit(MachineSchema, {
    id: record.id,
    state: stateNumbers[record.state],
    ...(host === undefined ? {} : { host: { ...host } }),
    instanceType: record.instanceType,
    zone: record.zone,
    capacityType: capacityNumbers[record.capacityType],
    pricePerHour: record.pricePerHour,
    interruptionProbability: publishedProbability(record),
    resources: { resources: fromMap(record.resources) },
    labels: fromMap(record.labels),
    lastError: record.lastError,
    ...(allocatable === undefined ? {} : { allocatable: { resources: fromMap(allocatable) } }),
    cluster: record.cluster,
    shardMetadata: fromMap(record.shardMetadata),
  });
}

test('any record decodes as the generated encoding of it does', () => {
  fc.assert(
    fc.property(recordArbitrary, (record) => {
      const ours = decode(MachineSchema, encodeMachine(record), 'INTERNAL');
      const theirs = decode(MachineSchema, generated(record), 'INTERNAL');
      assert.deepEqual(ours, theirs);
      // Same length too: no overlong varint, no default written, nothing twice.
      assert.equal(encodeMachine(record).length, encode(MachineSchema, theirs).length);
    }),
    { numRuns: 500 },
  );
});

test('lengths around the steps of a varint are framed exactly', () => {
  const [base]: readonly MachineRecord[] = fc.sample(recordArbitrary, { numRuns: 1, seed: 7 });
  assert.ok(base !== undefined);
  for (const length of [0, 1, 100, 126, 127, 128, 129, 16_382, 16_383, 16_384, 2_097_152]) {
    for (const text of ['x'.repeat(length), 'é'.repeat(Math.ceil(length / 2))]) {
      const record: MachineRecord = { ...base, zone: text, labels: new Map([['k', text]]) };
      const { zone, labels } = decode(MachineSchema, encodeMachine(record), 'INTERNAL');
      assert.equal(zone, text);
      assert.equal(labels['k'], text);
    }
  }
});

test('list entries are a MachineList', () => {
  fc.assert(
    fc.property(fc.array(recordArbitrary, { maxLength: 8 }), (records) => {
      const writer = new ProtobufWriter();
      for (const record of records) writeListEntry(writer, record);
      const { machines } = decode(MachineListSchema, writer.finish(), 'INTERNAL');
      const expected = records.map((r) => decode(MachineSchema, encodeMachine(r), 'INTERNAL'));
      assert.deepEqual(machines, expected);
    }),
  );
});

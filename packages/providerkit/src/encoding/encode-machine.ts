// A record as the bytes of a Machine message: the one way from a record to the wire, so that List,
// Get and acks can't disagree. By hand, because List encodes the whole fleet: a fraction of the
// generated code's cost, and repeated maps (interned by the fleet) are encoded once. A differential
// test holds it to the generated code.

import { type MachineRecord, publishedProbability } from '../model/machine.ts';
import { capacityNumbers, stateNumbers } from './wire-names.ts';
import { ProtobufWriter } from './protobuf-writer.ts';

/** Field 1 of MachineList: one entry per machine. */
export function writeListEntry(writer: ProtobufWriter, record: MachineRecord): void {
  writer.message(1, () => writeMachine(writer, record));
}

export function encodeMachine(record: MachineRecord): Uint8Array {
  const writer = new ProtobufWriter();
  writeMachine(writer, record);
  return writer.finish();
}

function writeMachine(writer: ProtobufWriter, record: MachineRecord): void {
  writer.string(1, record.id);
  writer.uint(2, stateNumbers[record.state]);
  const { host } = record;
  if (host !== undefined) {
    writer.message(3, () => {
      writer.string(1, host.provider);
      writer.string(2, host.ref);
    });
  }
  writer.string(4, record.instanceType);
  writer.string(5, record.zone);
  writer.uint(6, capacityNumbers[record.capacityType]);
  writer.double(7, record.pricePerHour);
  writer.double(8, publishedProbability(record));
  writer.bytes(9, entriesOf(record.resources, resourceEntries, 1));
  writer.raw(entriesOf(record.labels, labelEntries, 10));
  writer.string(12, record.lastError);
  if (record.allocatable !== undefined) {
    writer.bytes(13, entriesOf(record.allocatable, resourceEntries, 1));
  }
  writer.string(14, record.cluster);
  writer.mapEntries(15, record.shardMetadata);
}

type Encoded = WeakMap<ReadonlyMap<string, string>, Uint8Array>;

const resourceEntries: Encoded = new WeakMap();
const labelEntries: Encoded = new WeakMap();

function entriesOf(map: ReadonlyMap<string, string>, cache: Encoded, field: number): Uint8Array {
  const known = cache.get(map);
  if (known !== undefined) return known;
  const writer = new ProtobufWriter();
  writer.mapEntries(field, map);
  const bytes = writer.finish();
  cache.set(map, bytes);
  return bytes;
}

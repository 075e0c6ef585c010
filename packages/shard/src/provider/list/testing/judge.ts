// Holds the column decoder to the generated one: whatever wire's decoder reads, the columns say
// the same; whatever it refuses, the columns refuse, record by record.

import assert from 'node:assert/strict';
import { decode, type Machine, MachineListSchema, MachineSchema, toMap } from '@bigfleet/wire';
import type { ListColumns } from '../columns.ts';
import { decodeMachineList } from '../decode-list.ts';
import { splitList } from './raw-fields.ts';

export interface Verdict {
  readonly kind: 'refused' | 'decoded';
  readonly rows: number;
  readonly refusedRows: number;
}

/** Throws with the input in hex when the two disagree. */
export function judgeList(bytes: Uint8Array): Verdict {
  try {
    return compare(bytes);
  } catch (cause) {
    const input = Buffer.from(bytes).toString('hex');
    throw new Error(`decoders disagree on ${input}`, { cause });
  }
}

function compare(bytes: Uint8Array): Verdict {
  const records = splitList(bytes);
  const whole = tryDecode(() => decode(MachineListSchema, bytes, 'INTERNAL'));
  const columns = tryDecode(() => decodeMachineList(bytes));
  assert.equal(columns === undefined, records === undefined, 'the outer message');
  if (records === undefined || columns === undefined) {
    assert.equal(whole, undefined, 'only the columns refuse it');
    return { kind: 'refused', rows: 0, refusedRows: 0 };
  }
  assert.equal(columns.rowCount, records.length);
  let refusedRows = 0;
  const seen = new Set<string>();
  for (const [row, record] of records.entries()) {
    if (!compareRecord(columns, row, record, seen)) refusedRows++;
  }
  if (whole === undefined) assert.ok(refusedRows > 0, 'only the generated decoder refuses it');
  else {
    assert.equal(refusedRows, 0);
    assert.deepEqual(Buffer.from(columns.data.revision), Buffer.from(whole.revision));
  }
  return { kind: 'decoded', rows: records.length, refusedRows };
}

/** Whether the record was readable. */
function compareRecord(
  columns: ListColumns,
  row: number,
  record: Uint8Array,
  seen: Set<string>,
): boolean {
  const machine = tryDecode(() => decode(MachineSchema, record, 'INTERNAL'));
  const problem = columns.problem(row);
  if (machine === undefined) {
    assert.ok(problem === 'framing' || problem === 'text', `row ${row}: ${problem}`);
    if (columns.id(row) !== '') seen.add(columns.id(row));
    return false;
  }
  const isDuplicate = machine.id !== '' && seen.has(machine.id);
  assert.equal(problem, isDuplicate ? 'duplicate_id' : undefined, `row ${row}`);
  assert.deepEqual(rowOf(columns, row), expected(machine), `row ${row}`);
  if (!isDuplicate && machine.id !== '') assert.equal(columns.rowOf(machine.id), row);
  seen.add(machine.id);
  return true;
}

type Plain = Readonly<Record<string, unknown>>;

export function rowOf(columns: ListColumns, row: number): Plain {
  return {
    id: columns.id(row),
    state: columns.state(row),
    cluster: columns.cluster(row),
    hostProvider: columns.hostProvider(row),
    hostRef: columns.hostRef(row),
    lastError: columns.lastError(row),
    metadata: columns.metadata(row),
    ...columns.profile(columns.profileOf(row)),
  };
}

function expected(machine: Machine): Plain {
  return {
    id: machine.id,
    state: named(machine.state),
    cluster: machine.cluster,
    hostProvider: machine.host?.provider ?? '',
    hostRef: machine.host?.ref ?? '',
    lastError: machine.lastError,
    metadata: toMap(machine.shardMetadata),
    instanceType: machine.instanceType,
    zone: machine.zone,
    capacityType: named(machine.capacityType),
    pricePerHour: machine.pricePerHour,
    interruptionProbability: machine.interruptionProbability,
    resources: toMap(machine.resources?.resources ?? {}),
    labels: toMap(machine.labels),
    allocatable: toMap(machine.allocatable?.resources ?? {}),
  };
}

function named(value: number): number {
  return value >= 0 && value < 255 ? value : 255;
}

function tryDecode<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    assert.match(text, /not a bigfleet|not a MachineList/);
    return undefined;
  }
}

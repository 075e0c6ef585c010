// The changes of a commit as lines of JSON, the payload of the journal. Lines instead of one
// document, so that a first inventory of half a million machines is no string that V8 refuses.

import { assert, unreachable } from '@bigfleet/base';
import type { StoreChange } from '../store.ts';
import {
  count,
  fenceOf,
  FormError,
  formOfFence,
  formOfMachine,
  formOfOperation,
  machineOf,
  objectOf,
  operationOf,
  text,
} from './stored-forms.ts';

const LINES_PER_BUFFER = 1_000;
const NEWLINE = 0x0a;

/** One newline after each change. */
export function encodeChanges(changes: readonly StoreChange[]): readonly Buffer[] {
  const buffers: Buffer[] = [];
  for (let at = 0; at < changes.length; at += LINES_PER_BUFFER) {
    const lines = changes.slice(at, at + LINES_PER_BUFFER).map(lineOf);
    buffers.push(Buffer.from(lines.join(''), 'utf8'));
  }
  return buffers;
}

/** Throws FormError. */
export function* decodeChanges(payload: Buffer): Generator<StoreChange> {
  let start = 0;
  while (start < payload.length) {
    const end = payload.indexOf(NEWLINE, start);
    if (end < 0) throw new FormError('a change has no end');
    yield changeOf(payload.toString('utf8', start, end));
    start = end + 1;
  }
}

function lineOf(change: StoreChange): string {
  return `${JSON.stringify(formOf(change))}\n`;
}

function formOf(change: StoreChange): object {
  switch (change.kind) {
    case 'machine':
      return { machine: formOfMachine(change.record) };
    case 'machine-removed':
      return { machine_removed: change.machineId };
    case 'fence':
      return { fence: formOfFence(change.mark) };
    case 'operation':
      return { op: formOfOperation(change.operation) };
    case 'revision':
      assert(Number.isSafeInteger(change.revision), 'a revision is a whole number');
      return { rev: change.revision };
    default:
      return unreachable(change);
  }
}

function changeOf(line: string): StoreChange {
  const form = objectOf(parsed(line), 'change');
  if (Object.hasOwn(form, 'machine')) {
    return { kind: 'machine', record: machineOf(form['machine']) };
  }
  if (Object.hasOwn(form, 'machine_removed')) {
    return { kind: 'machine-removed', machineId: text(form, 'machine_removed') };
  }
  if (Object.hasOwn(form, 'op')) return { kind: 'operation', operation: operationOf(form['op']) };
  if (Object.hasOwn(form, 'rev')) return { kind: 'revision', revision: count(form, 'rev') };
  const mark = fenceOf(form['fence']);
  if (mark === undefined) throw new FormError('a fence mark names no machine');
  return { kind: 'fence', mark };
}

export function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw new FormError('a line is no JSON', { cause });
  }
}

// Reads the one JSON document that simpler file stores write (provider-contract §13): same keys, any
// spacing, no journal. `next_op` is ignored and marks per shard alone are dropped: the next call
// sets a better one, and epochs only grow. Records without a revision of their own are numbered
// here, and such an inventory gets a new incarnation, so that no cursor of before fits it.

import type { MachineRecord } from '../../model/machine.ts';
import { corrupt } from './failures.ts';
import { StateImage } from '../state-image.ts';
import {
  count,
  fenceOf,
  FormError,
  machineOf,
  objectOf,
  operationOf,
  text,
} from './stored-forms.ts';

export interface LegacyOptions {
  readonly path: string;
  /** For a file that has none, or whose revisions can't be kept. */
  readonly newIncarnation: string;
}

export function readLegacy(content: Buffer, options: LegacyOptions): StateImage {
  try {
    return imageOf(parseExact(content.toString('utf8')), options.newIncarnation);
  } catch (error) {
    if (error instanceof FormError) throw corrupt(options.path, error.message, error);
    throw error;
  }
}

function imageOf(document: unknown, newIncarnation: string): StateImage {
  const form = objectOf(document, 'state file');
  // One damaged byte in the first line of our own layout must not pass for another writer's file.
  if (Object.hasOwn(form, 'checksum')) throw new FormError('it is not as this store wrote it');
  const machines = listOf(form['machines'], 'machines').map(machineOf);
  const revision = count(form, 'rev', 0);
  const incarnation = text(form, 'incarnation', '');
  const keeps = incarnation !== '' && haveOwnRevisions(machines, revision);
  const image = new StateImage(keeps ? incarnation : newIncarnation);
  image.revision = keeps ? revision : Math.max(revision, machines.length);
  for (const [index, record] of machines.entries()) {
    const modifiedRevision = keeps ? record.modifiedRevision : index + 1;
    image.apply({ kind: 'machine', record: { ...record, modifiedRevision } });
  }
  if (image.machines.size < machines.length) throw new FormError('two machines have one id');
  for (const value of listOf(form['fences'], 'fences')) {
    const mark = fenceOf(value);
    if (mark !== undefined) image.apply({ kind: 'fence', mark });
  }
  for (const value of listOf(form['ops'], 'ops')) {
    image.apply({ kind: 'operation', operation: operationOf(value) });
  }
  return image;
}

/** Unique, from 1 to the head: anything else would hide changes from a cursor. */
function haveOwnRevisions(machines: readonly MachineRecord[], head: number): boolean {
  const revisions = new Set(machines.map(({ modifiedRevision }) => modifiedRevision));
  return revisions.size === machines.length && [...revisions].every((r) => r > 0 && r <= head);
}

/** The oldest layout keyed marks by shard in an object, and Go writes an empty list as null. */
function listOf(value: unknown, what: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  if (what === 'fences') return [];
  throw new FormError(`${what} is not a list`);
}

/** Marks written as plain numbers keep every digit: a double rounds 2^63 - 1. */
function parseExact(document: string): unknown {
  const keepDigits = (key: string, value: unknown, context?: { readonly source?: string }) =>
    (key === 'epoch' || key === 'sequence') && typeof value === 'number'
      ? (context?.source ?? value)
      : value;
  try {
    return JSON.parse(document, keepDigits);
  } catch (cause) {
    throw new FormError('it is no JSON document', { cause });
  }
}

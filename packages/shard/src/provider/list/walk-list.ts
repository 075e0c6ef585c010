// The outer message of a List: where records begin is known only by their lengths, so a broken
// length here leaves nothing to read, and the whole List is refused.

import { BigFleetError } from '@bigfleet/base';
import { Varints } from './varints.ts';

/** Tags of MachineList. */
const MACHINES_TAG = 0x0a;
const REVISION_TAG = 0x12;
const LAST_KNOWN_NUMBER = 2;

/**
 * Calls `onRecord` with each record's range and where its field begins, in order, until it answers
 * false; the revision.
 */
export function walkList(
  bytes: Uint8Array,
  onRecord: (start: number, end: number, fieldStart: number) => boolean,
): Uint8Array {
  const varints = new Varints(bytes);
  const end = bytes.length;
  let revision = bytes.subarray(0, 0);
  for (let at = 0; at < end; ) {
    const fieldStart = at;
    const tag = varints.readTag(at, end);
    if (tag < 0) throw malformed(at, 'illegal tag');
    if (tag !== MACHINES_TAG && tag !== REVISION_TAG) {
      at = skipField(varints, tag, end);
      continue;
    }
    const length = varints.read(varints.next, end);
    const from = varints.next;
    at = from + length;
    if (length < 0 || at > end) throw malformed(from, 'a length beyond the end of the message');
    if (tag === REVISION_TAG) revision = bytes.subarray(from, at);
    else if (!onRecord(from, at, fieldStart)) break;
  }
  return revision;
}

/** A field of a later version; a known one with another wire type is no such thing. */
function skipField(varints: Varints, tag: number, end: number): number {
  const from = varints.next;
  if (Math.floor(tag / 8) <= LAST_KNOWN_NUMBER) throw malformed(from, `wire type ${tag & 7}`);
  const to = varints.skip(tag & 7, from, end);
  if (to < 0) throw malformed(from, 'an unknown field beyond the end of the message');
  return to;
}

export function malformed(at: number, problem: string): BigFleetError {
  return new BigFleetError('message_malformed', `not a MachineList: byte ${at}: ${problem}`, {
    fields: { at },
  });
}

// How much text a machine may carry. A provider may write what it likes into labels and messages; what
// is too long for a trace cannot reach the engine's thread either, and would end the process there, at
// every start anew. So a record with too much of it is refused like any other bad one. Not for its
// message: that a machine Failed must be known, however long the reason is, so the reason is cut.

import type { Machine } from '@bigfleet/engine';

/** Code units; encoded, three times as many bytes still fit what a trace takes of one machine. */
const MAX_TEXT = 1 << 18;
const MAX_ERROR = 4_096;

type MachineTexts = Pick<Machine, 'id' | 'cluster' | 'host'>;
type ShapeTexts = Pick<Machine, 'instanceType' | 'zone' | 'labels'>;

/** Work: constant, so that every row of a List can be asked about. */
export function isTooLongMachine({ id, cluster, host }: MachineTexts): boolean {
  const hostLength = host === undefined ? 0 : host.provider.length + host.ref.length;
  return id.length + cluster.length + hostLength > MAX_TEXT;
}

/** Work: one step per label; once for each shape of a List. */
export function isTooLongShape({ instanceType, zone, labels }: ShapeTexts): boolean {
  let length = instanceType.length + zone.length;
  for (const [key, value] of labels) length += key.length + value.length;
  return length > MAX_TEXT;
}

/** Well-formed: half a character would come back as another text from a record. */
export function cutError(text: string): string {
  return text.length <= MAX_ERROR ? text : `${text.slice(0, MAX_ERROR - 1).toWellFormed()}…`;
}

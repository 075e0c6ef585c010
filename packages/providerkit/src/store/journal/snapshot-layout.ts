// The snapshot as one JSON document (provider-contract §13) that is also a list of lines: one record per
// line, so that reading and writing half a million machines never needs them in one string. The
// last line is the checksum of all bytes before it.
//
//   {"format":1,"generation":7,"incarnation":"…","rev":42,
//   "machines":[
//   {"id":"…",…}
//   ,{"id":"…",…}
//   ],"fences":[
//   ],"ops":[
//   ],
//   "checksum":"crc32:89abcdef"}

import type { StateImage } from '../state-image.ts';

export const FORMAT = 1;
/** Files of other writers don't start so: no other one puts `format` first. */
export const FORMAT_PREFIX = '{"format":';

export type Section = 'machines' | 'fences' | 'ops';

export const OPEN_MACHINES = '"machines":[';
export const OPEN_FENCES = '],"fences":[';
export const OPEN_OPERATIONS = '],"ops":[';
export const CLOSE_RECORDS = '],';

export function headLine(generation: number, { incarnation, revision }: StateImage): string {
  const form = { format: FORMAT, generation, incarnation, rev: revision };
  return `${JSON.stringify(form).slice(0, -1)},`;
}

export function checksumLine(crc: number): string {
  return `"checksum":"crc32:${crc.toString(16).padStart(8, '0')}"}`;
}

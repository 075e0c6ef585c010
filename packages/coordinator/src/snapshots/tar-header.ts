// One 512-byte header of a ustar archive, as it is read. Reading is strict: a checksum that does
// not fit, a link, a directory or a device is not part of any snapshot and refuses the archive.

import { malformedSnapshot } from './snapshot-meta.ts';

export const BLOCK_BYTES = 512;
const NAME_BYTES = 100;
const SIZE_AT = 124;
const SIZE_BYTES = 12;
const CHECKSUM_AT = 148;
const CHECKSUM_BYTES = 8;
const TYPE_AT = 156;
const MAGIC_AT = 257;
const REGULAR_FILE = new Set(['0', '\0']);

export interface TarHeader {
  readonly name: string;
  readonly size: number;
}

/** `end` for a block of zeros. Throws `snapshot_malformed`. */
export function decodeTarHeader(header: Buffer): TarHeader | 'end' {
  if (header.every((byte) => byte === 0)) return 'end';
  if (header.toString('latin1', MAGIC_AT, MAGIC_AT + 5) !== 'ustar')
    throw malformedSnapshot('the file is no tar archive');
  if (numberAt(header, CHECKSUM_AT, CHECKSUM_BYTES) !== checksumOf(header))
    throw malformedSnapshot('a tar header is damaged');
  const type = header.toString('latin1', TYPE_AT, TYPE_AT + 1);
  if (!REGULAR_FILE.has(type)) throw malformedSnapshot('the tar holds more than plain files');
  return { name: nameOf(header), size: numberAt(header, SIZE_AT, SIZE_BYTES) };
}

export function paddingOf(size: number): number {
  return (BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES;
}

function nameOf(header: Buffer): string {
  const end = header.indexOf(0);
  const name = header.toString('utf8', 0, Math.min(end === -1 ? NAME_BYTES : end, NAME_BYTES));
  return name.startsWith('./') ? name.slice(2) : name;
}

function numberAt(header: Buffer, at: number, length: number): number {
  const digits = header
    .toString('latin1', at, at + length)
    .replace(/[\0 ]+$/, '')
    .trimStart();
  if (!/^[0-7]{1,11}$/.test(digits)) throw malformedSnapshot('a number of a tar header is damaged');
  return Number.parseInt(digits, 8);
}

/** Over the header with its own field read as spaces. */
export function checksumOf(header: Buffer): number {
  let sum = 0;
  for (let at = 0; at < BLOCK_BYTES; at++) {
    const isOwn = at >= CHECKSUM_AT && at < CHECKSUM_AT + CHECKSUM_BYTES;
    sum += isOwn ? 0x20 : (header[at] ?? 0);
  }
  return sum;
}

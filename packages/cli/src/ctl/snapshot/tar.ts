// The tar of a snapshot: two plain files (POSIX ustar), written in one pass. No library: what is
// needed is two headers and the padding, and GNU tar reads it (the test asks it).

import { assert } from '@bigfleet/base';

const BLOCK = 512;
const NAME_LENGTH = 100;
const MAX_OCTAL_SIZE = 8 ** 11 - 1;

export interface TarEntry {
  readonly name: string;
  readonly size: number;
  readonly modifiedUnixSeconds: number;
}

/** The 512 bytes before an entry's content. */
export function tarHeader({ name, size, modifiedUnixSeconds }: TarEntry): Buffer {
  assert(Buffer.byteLength(name) < NAME_LENGTH, 'a name does not fit into a tar header', { name });
  const header = Buffer.alloc(BLOCK);
  header.write(name, 0, 'utf8');
  octal(header, 100, 8, 0o600);
  octal(header, 108, 8, 0);
  octal(header, 116, 8, 0);
  writeSize(header, size);
  octal(header, 136, 12, modifiedUnixSeconds);
  header.fill(' ', 148, 156);
  header.write('0', 156);
  header.write('ustar\u000000', 257, 'latin1');
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\u0000 `, 148, 'latin1');
  return header;
}

/** What fills an entry up to the next block. */
export function tarPadding(size: number): Buffer {
  return Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);
}

export function tarEnd(): Buffer {
  return Buffer.alloc(2 * BLOCK);
}

function octal(header: Buffer, at: number, length: number, value: number): void {
  header.write(`${value.toString(8).padStart(length - 1, '0')}\u0000`, at, 'latin1');
}

/** Beyond eight gigabytes the size is binary, as GNU tar writes it. */
function writeSize(header: Buffer, size: number): void {
  if (size <= MAX_OCTAL_SIZE) return octal(header, 124, 12, size);
  header[124] = 0x80;
  header.writeBigUInt64BE(BigInt(size), 128);
}

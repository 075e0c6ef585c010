// A snapshot as one tar, for tests of reading: `meta.json`, then `state`, so that a reader knows the
// checksum before the bytes.

import { writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { encodeSnapshotMeta, META_FILE, type SnapshotMeta, STATE_FILE } from '../snapshot-meta.ts';
import { BLOCK_BYTES, checksumOf, paddingOf, type TarHeader } from '../tar-header.ts';

export interface TarOptions {
  readonly meta: SnapshotMeta;
  /** The spooled state. */
  readonly stateFile: string;
  readonly target: string;
}

export async function writeSnapshotTar({ meta, stateFile, target }: TarOptions): Promise<void> {
  const json = Buffer.from(encodeSnapshotMeta(meta));
  const blocks = [
    encodeTarHeader({ name: META_FILE, size: json.length }),
    json,
    Buffer.alloc(paddingOf(json.length)),
    encodeTarHeader({ name: STATE_FILE, size: meta.size }),
    readFileSync(stateFile),
    Buffer.alloc(paddingOf(meta.size) + 2 * BLOCK_BYTES),
  ];
  await writeFile(target, Buffer.concat(blocks));
}

export function encodeTarHeader({ name, size }: TarHeader): Buffer {
  const header = Buffer.alloc(BLOCK_BYTES);
  header.write(name, 0);
  header.write('0000600\0', 100, 'latin1');
  header.write('0000000\0', 108, 'latin1');
  header.write('0000000\0', 116, 'latin1');
  header.write(`${octal(size, 11)}\0`, 124, 'latin1');
  header.write(`${octal(0, 11)}\0`, 136, 'latin1');
  header.write('0', 156, 'latin1');
  header.write('ustar\u000000', 257, 'latin1');
  header.write(`${octal(checksumOf(header), 6)}\0 `, 148, 'latin1');
  return header;
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0');
}

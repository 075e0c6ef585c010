// The file operations that the journal store needs, as an argument: tests cut a run at every byte
// and fail every call, which no real disk does on request. Paths are whole paths. Failures reject
// with the platform's error, `code` included; only the store decides what they mean.

import type { ExclusiveLock } from '@bigfleet/process';

export type FileKind = 'absent' | 'file' | 'directory' | 'symlink' | 'other';

export interface Files {
  kindOf(path: string): Promise<FileKind>;
  /** With its parents, mode 0755; one that exists is fine. */
  makeDirectory(path: string): Promise<void>;
  /** Names in it, in any order. */
  list(directory: string): Promise<readonly string[]>;
  /** For reading and writing an existing file. */
  open(path: string): Promise<OpenFile>;
  /** Empty, mode 0600; what was there is gone. */
  create(path: string): Promise<OpenFile>;
  /** Atomic; replaces the target. */
  rename(from: string, to: string): Promise<void>;
  /** An absent file is fine. */
  remove(path: string): Promise<void>;
  /** Makes creations, renames and removals in it durable. */
  syncDirectory(path: string): Promise<void>;
  /** Exclusive across processes and within this one; gone with its holder, however it dies. */
  lock(path: string): Promise<ExclusiveLock | 'held'>;
}

export interface OpenFile {
  size(): Promise<number>;
  /** Fewer bytes than asked for only at the end of the file. */
  read(position: number, length: number): Promise<Uint8Array>;
  /** How many bytes were taken, which may be fewer than given. */
  write(bytes: Uint8Array, position: number): Promise<number>;
  truncate(length: number): Promise<void>;
  /** Resolves when content and length are durable. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** Writes all of it, however many calls that takes. */
export async function writeAll(file: OpenFile, bytes: Uint8Array, position: number): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    const taken = await file.write(bytes.subarray(written), position + written);
    // A disk that takes nothing and reports nothing would keep this loop forever.
    if (taken <= 0) throw new Error('the file system took no byte of a write');
    written += taken;
  }
}

/** The whole content; the callers bound the size. */
export async function readAll(file: OpenFile): Promise<Buffer> {
  const length = await file.size();
  const bytes = await file.read(0, length);
  if (bytes.length < length) throw new Error(`read ${bytes.length} of ${length} bytes`);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

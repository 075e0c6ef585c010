// The real file system. Modes are 0600: the state holds bindings and host names of a whole fleet.

import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, open as openHandle, readdir, rename, rm } from 'node:fs/promises';
import { exclusiveLock, makeDirectory } from '@bigfleet/process';
import type { FileKind, Files, OpenFile } from './files.ts';

const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o755;

/** What a file system answers that has no fsync for directories (CIFS, some FUSE). */
const NO_DIRECTORY_SYNC: ReadonlySet<string> = new Set(['EINVAL', 'ENOTSUP']);

export const nodeFiles: Files = {
  kindOf: async (path) => {
    try {
      return kindOfStats(await lstat(path));
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return 'absent';
      throw error;
    }
  },
  makeDirectory: (path) => makeDirectory(path, DIRECTORY_MODE),
  list: (directory) => readdir(directory),
  open: async (path) => openFile(await openHandle(path, 'r+')),
  create: async (path) => {
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;
    return openFile(await openHandle(path, flags, FILE_MODE));
  },
  rename: (from, to) => rename(from, to),
  remove: (path) => rm(path, { force: true }),
  syncDirectory,
  lock: async (path) => exclusiveLock(path),
};

async function syncDirectory(path: string): Promise<void> {
  const handle = await openHandle(path, 'r');
  try {
    await handle.sync();
  } catch (error) {
    if (!NO_DIRECTORY_SYNC.has(codeOf(error) ?? '')) throw error;
  } finally {
    await handle.close();
  }
}

function openFile(handle: FileHandle): OpenFile {
  return {
    size: async () => (await handle.stat()).size,
    read: (position, length) => readUpTo(handle, position, length),
    write: async (bytes, position) =>
      (await handle.write(bytes, 0, bytes.length, position)).bytesWritten,
    truncate: (length) => handle.truncate(length),
    sync: () => handle.sync(),
    close: () => handle.close(),
  };
}

async function readUpTo(handle: FileHandle, position: number, length: number): Promise<Uint8Array> {
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const left = length - filled;
    const { bytesRead } = await handle.read(buffer, filled, left, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

function kindOfStats(stats: Stats): FileKind {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'directory';
  return stats.isSymbolicLink() ? 'symlink' : 'other';
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

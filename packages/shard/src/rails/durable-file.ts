// A small state file that is replaced whole and survives power loss: temp file, fsync, rename,
// fsync of the directory (security §4.4). A plain overwrite can come back empty or half written.
// Mode 0600. Behind an interface, so that tests fill the disk and cut the run at each step.
//
// One writer: the process that holds the data directory's lock.

import { constants } from 'node:fs';
import { open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { BigFleetError, describeThrown, type ErrorCode, type Result } from '@bigfleet/base';

export interface DurableFile {
  /** For messages. */
  readonly path: string;
  /** Undefined when there is none. */
  read(): Promise<string | undefined>;
  /** Resolves when the new content is durable; rejects with the old content in place. */
  replace(text: string): Promise<void>;
}

const MODE = 0o600;

/** What a file system answers that has no fsync for directories (CIFS, some FUSE). */
const NO_DIRECTORY_SYNC: ReadonlySet<string> = new Set(['EINVAL', 'ENOTSUP']);

export function durableFile(path: string): DurableFile {
  return {
    path,
    read: async () => {
      try {
        return await readFile(path, 'utf8');
      } catch (error) {
        if (codeOf(error) === 'ENOENT') return undefined;
        throw error;
      }
    },
    replace: async (text) => {
      const temporary = `${path}.tmp`;
      await writeSynced(temporary, text);
      await rename(temporary, path);
      await syncDirectory(dirname(path));
    },
  };
}

/**
 * Undefined when there is no file. Rejects with `code` when the file cannot be read or understood: the
 * process must not start on a guess. The error of `parse` says what is wrong with the file.
 */
export async function readDurably<T>(
  file: DurableFile,
  code: ErrorCode,
  parse: (text: string) => Result<T, string>,
): Promise<T | undefined> {
  let text: string | undefined;
  try {
    text = await file.read();
  } catch (cause) {
    const problem = `${file.path} cannot be read: ${describeThrown(cause)}`;
    throw new BigFleetError(code, problem, { cause });
  }
  if (text === undefined) return undefined;
  const parsed = parse(text);
  if (parsed.ok) return parsed.value;
  throw new BigFleetError(code, `${file.path} cannot be used: ${parsed.error}`);
}

/** Rejects with `code`: what was not made durable did not happen. */
export async function writeDurably(
  file: DurableFile,
  code: ErrorCode,
  text: string,
): Promise<void> {
  try {
    await file.replace(text);
  } catch (cause) {
    const problem = `${file.path} cannot be written: ${describeThrown(cause)}`;
    throw new BigFleetError(code, problem, { cause });
  }
}

async function writeSynced(path: string, text: string): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;
  const handle = await open(path, flags, MODE);
  try {
    await handle.writeFile(text, 'utf8');
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } catch (error) {
    if (!NO_DIRECTORY_SYNC.has(codeOf(error) ?? '')) throw error;
  } finally {
    await handle.close();
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

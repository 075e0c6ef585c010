// Makes a directory with its parents, at most one attempt per part of the path. Node's own recursive
// `mkdir` tries for ever where the parent exists and the answer is still ENOENT (a working directory
// that was deleted, a file system of the kernel): a processor is burnt and no error ever comes.

import { mkdirSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';

/** Throws what the file system says about the first part that cannot be made. */
export async function makeDirectory(directory: string, mode?: number): Promise<void> {
  try {
    await mkdir(directory, mode);
  } catch (error) {
    if (afterFailure(error, directory) === 'exists') return;
    await makeDirectory(path.dirname(directory), mode);
    await mkdir(directory, mode).catch(unlessExists);
  }
}

/** The same before a process has anything to wait for. */
export function makeDirectorySync(directory: string, mode?: number): void {
  try {
    mkdirSync(directory, mode);
  } catch (error) {
    if (afterFailure(error, directory) === 'exists') return;
    makeDirectorySync(path.dirname(directory), mode);
    try {
      mkdirSync(directory, mode);
    } catch (again) {
      unlessExists(again);
    }
  }
}

/** Throws what making the parents would not mend. */
function afterFailure(error: unknown, directory: string): 'exists' | 'parents-missing' {
  const code = codeOf(error);
  if (code === 'EEXIST') return 'exists';
  if (code === 'ENOENT' && path.dirname(directory) !== directory) return 'parents-missing';
  throw error;
}

/** Another process may have made it in between. */
function unlessExists(error: unknown): void {
  if (codeOf(error) !== 'EEXIST') throw error;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

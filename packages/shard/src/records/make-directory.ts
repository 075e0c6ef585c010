// Makes a directory with its parents, at most one attempt per part of the path. Node's own recursive
// `mkdir` tries for ever where the parent exists and the answer is still ENOENT (a working directory
// that was deleted, a file system of the kernel): a processor is burnt and no error ever comes.

import { mkdir } from 'node:fs/promises';
import path from 'node:path';

/** Throws what the file system says about the first part that cannot be made. */
export async function makeDirectory(directory: string, mode?: number): Promise<void> {
  const result = await attempt(directory, mode);
  if (result.ok) return;
  const parent = path.dirname(directory);
  if (result.code !== 'ENOENT' || parent === directory) throw result.error;
  await makeDirectory(parent, mode);
  const again = await attempt(directory, mode);
  if (!again.ok) throw again.error;
}

type Attempt =
  | { readonly ok: true }
  | { readonly ok: false; readonly code: unknown; readonly error: unknown };

async function attempt(directory: string, mode: number | undefined): Promise<Attempt> {
  try {
    await mkdir(directory, mode);
    return { ok: true };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    return code === 'EEXIST' ? { ok: true } : { ok: false, code, error };
  }
}

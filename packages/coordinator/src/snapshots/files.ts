// Durable file steps that snapshots are made of. A rename is what makes a thing exist; it counts
// only after the directory that holds the name was synced too.

import { open, rename } from 'node:fs/promises';
import path from 'node:path';

export const OWNER_ONLY = 0o600;
export const OWNER_ONLY_DIR = 0o700;

/** Called before each step that a crash could cut off; tests crash there. */
export type StepHook = (step: string) => void;

export async function syncPath(target: string): Promise<void> {
  const handle = await open(target, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export async function renameDurably(from: string, to: string): Promise<void> {
  await rename(from, to);
  await syncPath(path.dirname(to));
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

// A private temporary directory that is gone when its scope ends, and after a crash as well.
// Mode 0700, because tests put private keys there.

import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { leaveToReaper } from './reaper.ts';

export interface TempDir extends AsyncDisposable {
  readonly path: string;
  remove(): Promise<void>;
}

export function createTempDir(label: string = 'test'): TempDir {
  const path = mkdtempSync(join(tmpdir(), `bigfleet-${label}-`));
  const removed = leaveToReaper({ kind: 'dir', path });
  const remove = async (): Promise<void> => {
    await rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
    removed();
  };
  return { path, remove, [Symbol.asyncDispose]: remove };
}

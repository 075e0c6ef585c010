// The run's own directory for data and logs: gone after a run that went well, kept for reading after
// one that did not.

import { closeSync, mkdtempSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { LogSink } from '@bigfleet/telemetry';

/** Where the directories of all runs lie, and how their names begin. */
export const RUNS_FOLDER: string = tmpdir();
export const RUN_PREFIX = 'bigfleet-up-';

export interface WorkDir {
  readonly path: string;
  remove(): void;
  /** False when it stays, because there is something to read. */
  removeEmpty(): boolean;
}

export function createWorkDir(): WorkDir {
  const dir = mkdtempSync(path.join(RUNS_FOLDER, RUN_PREFIX));
  const remove = (): void => rmSync(dir, { recursive: true, force: true });
  const removeEmpty = (): boolean => {
    if (readdirSync(dir).length > 0) return false;
    remove();
    return true;
  };
  return { path: dir, remove, removeEmpty };
}

export interface FileSink extends LogSink {
  close(): void;
}

export function fileSink(file: string): FileSink {
  const descriptor = openSync(file, 'a');
  return {
    write: (lines) => {
      writeSync(descriptor, lines);
    },
    flushSync: () => {},
    close: () => closeSync(descriptor),
  };
}

// The mark of a restore under way: from the moment the old engine state is touched until the new one
// is complete, a coordinator must not start here. It would find half of each, or an old database
// without its log, and serve it. The same restore, run again, starts over and removes the mark.

import { existsSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const MARK_FILE = 'restore-in-progress';

export function setRestoreMark(directory: string): void {
  writeFileSync(path.join(directory, MARK_FILE), '', { flush: true });
}

export function clearRestoreMark(directory: string): void {
  rmSync(path.join(directory, MARK_FILE), { force: true });
}

export function hasRestoreMark(directory: string): boolean {
  return existsSync(path.join(directory, MARK_FILE));
}

// Files in memory that a test can cut off at any write, before or after it took effect, and read
// again as the next process would.

import type { DurableFile } from '../../rails/durable-file.ts';

export class CrashDisk {
  readonly contents: Map<string, string> = new Map<string, string>();
  /** Names of the files, in the order they were written. */
  readonly writes: string[] = [];
  /** Let so many writes pass, then fail for good. */
  writesLeft: number = Number.POSITIVE_INFINITY;
  /** Whether the write that fails took effect all the same. */
  isLastWriteKept = false;

  file(name: string): DurableFile {
    return {
      path: name,
      read: async () => this.contents.get(name),
      replace: async (text) => {
        const isCut = this.writesLeft <= 0;
        if (!isCut || (this.isLastWriteKept && this.writesLeft === 0)) {
          this.contents.set(name, text);
          this.writes.push(name);
        }
        this.writesLeft -= 1;
        if (isCut) throw new Error('EIO: the disk is gone');
      },
    };
  }

  /** As the next process finds it. */
  restarted(): CrashDisk {
    const next = new CrashDisk();
    for (const [name, text] of this.contents) next.contents.set(name, text);
    return next;
  }
}

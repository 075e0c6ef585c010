// A durable file in memory, whose disk can be full or slow.

import type { DurableFile } from '../durable-file.ts';

export class FakeFile implements DurableFile {
  readonly path = 'rails.json';
  text: string | undefined;
  isFull = false;
  isUnreadable = false;
  #waiting: (() => void)[] = [];
  isSlow = false;

  constructor(text?: string) {
    this.text = text;
  }

  async read(): Promise<string | undefined> {
    if (this.isUnreadable) throw new Error('EIO: i/o error');
    return this.text;
  }

  async replace(text: string): Promise<void> {
    if (this.isSlow) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (this.isFull) throw new Error('ENOSPC: no space left on device');
    this.text = text;
  }

  /** Lets the oldest waiting write go on. */
  step(): void {
    this.#waiting.shift()?.();
  }
}

// The temporary folder of one run: logs and state of the processes that it boots. It is made with
// the first of them. The state goes when the run ends; the logs stay when something went wrong,
// because messages name them.

import { mkdtempSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

export class Workspace {
  #folder: string | undefined;
  #count = 0;

  /** Undefined as long as nothing was booted. */
  get folder(): string | undefined {
    return this.#folder;
  }

  logFile(name: string): string {
    return path.join(this.#open(), `${this.#next(name)}.log`);
  }

  /** A path for `--state` whose folder exists and which itself does not. */
  async statePath(name: string): Promise<string> {
    const folder = path.join(this.#open(), 'state', this.#next(name));
    await mkdir(folder, { recursive: true });
    return path.join(folder, 'state');
  }

  async close(options: { readonly keepLogs: boolean }): Promise<void> {
    if (this.#folder === undefined) return;
    const gone = options.keepLogs ? path.join(this.#folder, 'state') : this.#folder;
    await rm(gone, { recursive: true, force: true });
  }

  #open(): string {
    this.#folder ??= mkdtempSync(path.join(tmpdir(), 'bfconformance-'));
    return this.#folder;
  }

  #next(name: string): string {
    this.#count += 1;
    return `${this.#count}-${name.replaceAll(/[^A-Za-z0-9_-]+/g, '-')}`;
  }
}

// The three PEM files that a process is given (tls.crt, tls.key, ca.crt), and every way in which
// they change under a running one: replaced, half replaced, briefly missing, or swapped through
// symlinks as Kubernetes does with a mounted Secret. Each write gets a strictly later mtime,
// because two writes can fall into one kernel tick and reloading is specified by mtime.

import { chmod, mkdir, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Leaf } from './pki.ts';
import { createTempDir, type TempDir } from './temp-dir.ts';

export type PemFile = 'tls.crt' | 'tls.key' | 'ca.crt';
export type PemLayout = 'plain' | 'kubernetes';

const MTIME_STEP_MS = 10;

export async function createPemDir(leaf: Leaf, layout: PemLayout = 'plain'): Promise<PemDir> {
  const files = new PemDir(createTempDir('tls'), layout);
  await files.rotate(leaf);
  return files;
}

export class PemDir implements AsyncDisposable {
  readonly certFile: string;
  readonly keyFile: string;
  readonly caFile: string;
  readonly #dir: TempDir;
  readonly #layout: PemLayout;
  #generation = 0;
  #lastMtimeMs = 0;

  constructor(dir: TempDir, layout: PemLayout) {
    this.#dir = dir;
    this.#layout = layout;
    this.certFile = join(dir.path, 'tls.crt');
    this.keyFile = join(dir.path, 'tls.key');
    this.caFile = join(dir.path, 'ca.crt');
  }

  get path(): string {
    return this.#dir.path;
  }

  /** A complete new pair. In the Kubernetes layout, all files change in one rename. */
  async rotate(leaf: Leaf): Promise<void> {
    if (this.#layout === 'kubernetes') {
      await this.#swap(leaf);
      return;
    }
    await this.write('tls.crt', leaf.certPem);
    await this.write('tls.key', leaf.keyPem);
    await this.write('ca.crt', leaf.caPem);
  }

  /** The new certificate beside the old key; finish with `finishRotation`. Plain layout only. */
  async startRotation(leaf: Leaf): Promise<void> {
    await this.write('tls.crt', leaf.certPem);
  }

  async finishRotation(leaf: Leaf): Promise<void> {
    await this.write('tls.key', leaf.keyPem);
  }

  /** Any content, in place: truncates first, as a careless writer would. Plain layout only. */
  async write(file: PemFile, content: string): Promise<void> {
    if (this.#layout !== 'plain') throw new Error('a Secret mount is never written in place');
    await this.#writeAt(join(this.path, file), content);
  }

  /** The file is gone until it is written again. */
  async removeFile(file: PemFile): Promise<void> {
    await rm(join(this.path, file));
  }

  remove(): Promise<void> {
    return this.#dir.remove();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.remove();
  }

  /** tls.crt → ..data/tls.crt, ..data → ..generation-N; the middle link is renamed over. */
  async #swap(leaf: Leaf): Promise<void> {
    this.#generation += 1;
    const target = `..generation-${this.#generation}`;
    await mkdir(join(this.path, target), { mode: 0o700 });
    const contents = { 'tls.crt': leaf.certPem, 'tls.key': leaf.keyPem, 'ca.crt': leaf.caPem };
    for (const [file, content] of Object.entries(contents)) {
      await this.#writeAt(join(this.path, target, file), content);
      if (this.#generation === 1) await symlink(`..data/${file}`, join(this.path, file));
    }
    await symlink(target, join(this.path, '..data_tmp'));
    await rename(join(this.path, '..data_tmp'), join(this.path, '..data'));
    const old = join(this.path, `..generation-${this.#generation - 1}`);
    await rm(old, { recursive: true, force: true });
  }

  async #writeAt(path: string, content: string): Promise<void> {
    await writeFile(path, content, { mode: 0o600 });
    await chmod(path, 0o600);
    const { mtimeMs } = await stat(path);
    this.#lastMtimeMs = Math.max(mtimeMs, this.#lastMtimeMs + MTIME_STEP_MS);
    await utimes(path, this.#lastMtimeMs / 1_000, this.#lastMtimeMs / 1_000);
  }
}

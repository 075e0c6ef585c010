// Follows the leaf files while the process runs (security §1.3). Polls the modification
// times on the injected timers; a change is read, checked and swapped in. Whatever is
// wrong with the new files, the last coherent pair stays in use and the next poll tries
// again, because the remembered times move only after a success.

import { readFile, stat } from 'node:fs/promises';
import type { Runtime, Timer } from '@bigfleet/base';
import { checkedPair, type LeafFiles } from './leaf-pair.ts';
import type { TlsMaterial } from './material.ts';

export interface TlsReloadOptions {
  readonly runtime: Runtime;
  readonly material: TlsMaterial;
  readonly onReloaded?: (expiresAtUnixSeconds: number) => void;
  /** The files changed but cannot be used; the old pair stays. Once per distinct failure text. */
  readonly onReloadFailed?: (error: unknown) => void;
  /** Less than seven days are left. Once per certificate. */
  readonly onExpiringSoon?: (expiresAtUnixSeconds: number) => void;
}

/** The bound of security §1.3. */
const pollMs = 10_000;
const warnBeforeSeconds = 7 * 24 * 3_600;

export function startTlsReload(options: TlsReloadOptions): TlsReload {
  return new TlsReload(options);
}

export class TlsReload {
  readonly #options: TlsReloadOptions;
  #seen: string | undefined;
  #timer: Timer | undefined;
  #warnedFor: number | undefined;
  #lastFailure: string | undefined;
  #checking: Promise<void> | undefined;
  #stopped = false;

  constructor(options: TlsReloadOptions) {
    this.#options = options;
    this.#warnIfExpiring();
    this.#schedule();
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  /** Looks now instead of at the next poll. Never throws. */
  check(): Promise<void> {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  #schedule(): void {
    if (this.#stopped) return;
    this.#timer = this.#options.runtime.timers.after(pollMs, () => {
      const again = (): void => this.#schedule();
      this.check().then(again, again);
    });
  }

  async #check(): Promise<void> {
    const { material } = this.#options;
    try {
      const before = await stampOf(material.files);
      if (before !== this.#seen) {
        await this.#reload();
        // Stamped before the read: a write in between makes the next poll look again.
        this.#seen = before;
      }
      this.#lastFailure = undefined;
    } catch (error) {
      this.#report(error);
    }
    this.#warnIfExpiring();
  }

  async #reload(): Promise<void> {
    const { material, onReloaded } = this.#options;
    const { files } = material;
    const [certificatePem, keyPem] = await Promise.all([readFile(files.cert), readFile(files.key)]);
    if (material.holds(certificatePem, keyPem)) return;
    material.replace(checkedPair(certificatePem, keyPem, files));
    onReloaded?.(material.expiresAtUnixSeconds());
  }

  #report(error: unknown): void {
    const text = String(error);
    if (text === this.#lastFailure) return;
    this.#lastFailure = text;
    this.#options.onReloadFailed?.(error);
  }

  #warnIfExpiring(): void {
    const { material, runtime, onExpiringSoon } = this.#options;
    const expiresAt = material.expiresAtUnixSeconds();
    const nowSeconds = Number(runtime.clock.unixNanos() / 1_000_000_000n);
    if (expiresAt - nowSeconds >= warnBeforeSeconds || this.#warnedFor === expiresAt) return;
    this.#warnedFor = expiresAt;
    onExpiringSoon?.(expiresAt);
  }
}

/** Nanosecond times, sizes and inodes of both files: a swap within one millisecond still shows. */
async function stampOf({ cert, key }: LeafFiles): Promise<string> {
  const stats = await Promise.all([stat(cert, { bigint: true }), stat(key, { bigint: true })]);
  return stats.map(({ mtimeNs, size, ino }) => `${mtimeNs}/${size}/${ino}`).join(' ');
}

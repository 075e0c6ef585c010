// Periodic export of the leader's state (coordinator §10.2): `<export-dir>/<time>-<id>/` with
// meta.json and state, and the symlink `latest`. A directory of that name is always whole: it is
// written under a temporary name, synced, and renamed; what a crash left is removed by the next
// attempt. "Nothing new" is success. A failure is logged and shows as a gauge that stands still.

import { mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describeThrown, sleep, type Runtime } from '@bigfleet/base';
import type { Logger } from '@bigfleet/telemetry';
import type { Store, StoreSnapshot } from '../store/store.ts';
import { encodeSnapshotMeta, META_FILE, STATE_FILE } from './snapshot-meta.ts';
import {
  OWNER_ONLY,
  OWNER_ONLY_DIR,
  renameDurably,
  type StepHook,
  syncPath,
  spoolSnapshot,
} from './spool.ts';

export interface SnapshotExporterOptions {
  readonly runtime: Runtime;
  readonly store: Store;
  readonly log: Logger;
  readonly directory: string;
  readonly intervalMs: number;
  /** The newest so many are kept; 0 keeps all. */
  readonly retain: number;
  readonly format?: 'native' | 'logical';
  /** After each attempt that left the export dir current; `…_snapshot_last_success_…`. */
  readonly onSuccess?: () => void;
  readonly onFailure?: () => void;
  readonly onStep?: StepHook;
}

export type ExportOutcome = 'exported' | 'nothing-new';

const LATEST = 'latest';
const TEMPORARY = '.tmp-';
const NAME = /^\d{8}-\d{6}-[0-9a-f]+$/;

export class SnapshotExporter {
  readonly #options: SnapshotExporterOptions;
  #lastIndex: number | undefined;

  constructor(options: SnapshotExporterOptions) {
    this.#options = options;
  }

  /** Until the signal, which the caller ties to its leadership: only a leader exports. */
  async run(signal: AbortSignal): Promise<void> {
    const { runtime, intervalMs, log } = this.#options;
    while (!signal.aborted) {
      try {
        await this.exportOnce();
      } catch (error) {
        log.error('snapshot export failed', { error: describeThrown(error) });
        this.#options.onFailure?.();
      }
      await sleep(runtime, intervalMs, signal).catch(() => undefined);
    }
  }

  async exportOnce(): Promise<ExportOutcome> {
    const outcome = await this.#export();
    this.#options.onSuccess?.();
    return outcome;
  }

  async #export(): Promise<ExportOutcome> {
    const { store, directory } = this.#options;
    const { applyIndex } = await store.status();
    if (applyIndex === 0 || applyIndex === this.#lastIndex) return 'nothing-new';
    await mkdir(directory, { recursive: true, mode: OWNER_ONLY_DIR });
    await this.#removeLeftovers();
    const snapshot = await store.snapshot(this.#options.format ?? 'native');
    if (snapshot === undefined) return 'nothing-new';
    const name = await this.#write(snapshot);
    await this.#pointLatestTo(name);
    const { applyIndex: index, term } = snapshot.meta;
    this.#lastIndex = index;
    await this.#retainNewest();
    this.#options.log.info('snapshot exported', { dest: path.join(directory, name), index, term });
    return 'exported';
  }

  async #write(snapshot: StoreSnapshot): Promise<string> {
    const { runtime, store, directory } = this.#options;
    const half = path.join(directory, `${TEMPORARY}export`);
    await mkdir(half, { mode: OWNER_ONLY_DIR });
    this.#step('write state');
    const file = path.join(half, STATE_FILE);
    const meta = await spoolSnapshot(snapshot, { runtime, engine: store.engine, file });
    this.#step('write meta');
    const json = encodeSnapshotMeta(meta);
    await writeFile(path.join(half, META_FILE), json, { mode: OWNER_ONLY, flush: true });
    await syncPath(half);
    const name = `${stampOf(meta.createdAt)}-${meta.id}`;
    this.#step('rename directory');
    await renameDurably(half, path.join(directory, name));
    return name;
  }

  /** By rename: `latest` always leads to a whole snapshot, never to nothing. */
  async #pointLatestTo(name: string): Promise<void> {
    const { directory } = this.#options;
    const link = path.join(directory, `${TEMPORARY}${LATEST}`);
    this.#step('make link');
    await symlink(name, link);
    this.#step('rename link');
    await rename(link, path.join(directory, LATEST));
    await syncPath(directory);
  }

  async #retainNewest(): Promise<void> {
    const { directory, retain } = this.#options;
    if (retain === 0) return;
    const names = (await readdir(directory)).filter((name) => NAME.test(name)).sort();
    for (const name of names.slice(0, -retain)) {
      this.#step('remove old');
      await rm(path.join(directory, name), { recursive: true, force: true });
    }
  }

  async #removeLeftovers(): Promise<void> {
    const { directory } = this.#options;
    for (const name of await readdir(directory))
      if (name.startsWith(TEMPORARY))
        await rm(path.join(directory, name), { recursive: true, force: true });
  }

  #step(name: string): void {
    this.#options.onStep?.(name);
  }
}

/** `2026-01-02T03:04:05.678Z` → `20260102-030405`: names sort by time. */
function stampOf(createdAt: string): string {
  return createdAt.slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
}

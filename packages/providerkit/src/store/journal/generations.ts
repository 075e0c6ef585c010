// Which journal is written and which snapshot it stands on. A compaction first starts a new
// journal, then writes a snapshot that names it, then removes what both replace. A crash anywhere
// in between leaves a snapshot and the unbroken chain of journals from its generation on:
//
//   snapshot 7, journal 7            commits go to 7
//   snapshot 7, journals 7 and 8     commits go to 8, the snapshot is being written
//   snapshot 8, journals 7 and 8     renamed; 7 is of no more use
//   snapshot 8, journal 8
//
// A failed fsync leaves the current journal in doubt: then the snapshot is written before the new
// journal takes its first frame, and commits are refused until that has worked.

import { assert, type BigFleetError, type Runtime } from '@bigfleet/base';
import { unavailable } from './failures.ts';
import type { Files } from './files.ts';
import { FILE_HEADER_BYTES } from './frame.ts';
import type { StateImage } from '../state-image.ts';
import { JournalFile } from './journal-file.ts';
import type { JournalLimits, JournalObserver } from './options.ts';
import type { StatePaths } from './state-paths.ts';
import { writeSnapshot } from './write-snapshot.ts';

export interface GenerationsOptions {
  readonly files: Files;
  readonly paths: StatePaths;
  readonly image: StateImage;
  readonly runtime: Pick<Runtime, 'clock'>;
  readonly limits: JournalLimits;
  readonly observer: JournalObserver;
}

export interface FoundGenerations {
  readonly snapshot: { readonly generation: number; readonly bytes: number };
  /** Open for appending. */
  readonly current: JournalFile;
  /** Journals that are still needed until the next snapshot. */
  readonly olderPaths: readonly string[];
}

export class Generations {
  readonly #options: GenerationsOptions;
  #current: JournalFile;
  #olderPaths: readonly string[];
  #snapshotGeneration: number;
  #snapshotBytes: number;
  /** The current journal is compacted when it reaches this. */
  #compactAtBytes: number;
  #compaction: Promise<void> | undefined;
  /**
   * The journal that replaces one in doubt. Made once and kept over failed attempts: a snapshot
   * that names it may already be on disk, so it must never be made again.
   */
  #next: JournalFile | undefined;
  #nextRepairMs = Number.NEGATIVE_INFINITY;

  constructor(options: GenerationsOptions, found: FoundGenerations) {
    this.#options = options;
    this.#current = found.current;
    this.#olderPaths = found.olderPaths;
    this.#snapshotGeneration = found.snapshot.generation;
    this.#snapshotBytes = found.snapshot.bytes;
    this.#compactAtBytes = this.#threshold();
  }

  /** The first generation of a state that has no file of ours yet. */
  static async begin(options: GenerationsOptions): Promise<Generations> {
    const { files, paths, image } = options;
    const generation = 1;
    const place = { path: paths.journal(generation), generation };
    const current = await JournalFile.create(files, paths.directory, place);
    try {
      const bytes = await writeSnapshot({ files, paths, generation }, image);
      return new Generations(options, { snapshot: { generation, bytes }, current, olderPaths: [] });
    } catch (error) {
      await current.close();
      throw error;
    }
  }

  /** Resolves when the payload is durable; when it rejects, nothing of it stays. */
  async append(payload: readonly Buffer[], bytes: number): Promise<void> {
    const isFull = this.#current.bytes + bytes > this.#options.limits.maxJournalBytes;
    const isUsed = this.#current.bytes > FILE_HEADER_BYTES;
    if (this.#current.inDoubt || (isFull && isUsed)) await this.#startOver();
    try {
      await this.#current.append(payload);
    } catch (error) {
      await this.#tidy(() => this.#current.dropTail());
      throw error;
    }
  }

  /** Starts a compaction when the journal has grown enough; commits go on meanwhile. */
  async compactIfDue(): Promise<void> {
    if (this.#compaction !== undefined || this.#current.inDoubt) return;
    if (this.#current.bytes < this.#compactAtBytes) return;
    try {
      if (this.#current.generation === this.#snapshotGeneration) await this.#switchJournal();
    } catch (error) {
      this.#postpone(error);
      return;
    }
    this.#compaction = this.#compact().finally(() => {
      this.#compaction = undefined;
    });
  }

  /** Compacts once more where the next load would replay more than it reads. */
  async close(): Promise<void> {
    await this.#compaction;
    if (this.#current.bytes > this.#snapshotBytes) {
      this.#compactAtBytes = 0;
      await this.compactIfDue();
      await this.#compaction;
    }
    await this.#next?.close();
    await this.#current.close();
  }

  /** Never rejects. */
  async #compact(): Promise<void> {
    try {
      await this.#replaceSnapshot(this.#current.generation);
      await this.#removeOlder();
      this.#compactAtBytes = this.#threshold();
    } catch (error) {
      await this.#removeTemporary();
      this.#postpone(error);
    }
  }

  async #switchJournal(): Promise<void> {
    const previous = this.#current;
    this.#current = await this.#createNext();
    this.#olderPaths = [...this.#olderPaths, previous.path];
    this.#compactAtBytes = this.#threshold();
    await previous.close();
  }

  async #startOver(): Promise<void> {
    const { clock } = this.#options.runtime;
    if (clock.monotonicMs() < this.#nextRepairMs) {
      throw unavailable('the journal waits for a working disk');
    }
    this.#nextRepairMs = clock.monotonicMs() + this.#options.limits.repairPauseMs;
    await this.#compaction;
    this.#next ??= await this.#createNext();
    try {
      await this.#replaceSnapshot(this.#next.generation);
    } catch (error) {
      await this.#removeTemporary();
      throw error;
    }
    const previous = this.#current;
    this.#current = this.#next;
    this.#next = undefined;
    this.#compactAtBytes = this.#threshold();
    this.#nextRepairMs = Number.NEGATIVE_INFINITY;
    this.#olderPaths = [...this.#olderPaths, previous.path];
    await this.#tidy(async () => {
      await previous.close();
      await this.#removeOlder();
    });
  }

  async #replaceSnapshot(generation: number): Promise<void> {
    const { files, paths, image, observer } = this.#options;
    assert(generation > this.#snapshotGeneration, 'a snapshot replaces an older one');
    this.#snapshotBytes = await writeSnapshot({ files, paths, generation }, image);
    this.#snapshotGeneration = generation;
    observer.onCompacted?.({ bytes: this.#snapshotBytes, generation });
  }

  #createNext(): Promise<JournalFile> {
    const { files, paths } = this.#options;
    const generation = this.#current.generation + 1;
    const place = { path: paths.journal(generation), generation };
    return JournalFile.create(files, paths.directory, place);
  }

  async #removeOlder(): Promise<void> {
    for (const path of this.#olderPaths) await this.#options.files.remove(path);
    this.#olderPaths = [];
  }

  /** Half a snapshot on a full disk is space that the next commit needs. */
  async #removeTemporary(): Promise<void> {
    const { files, paths } = this.#options;
    await this.#tidy(() => files.remove(paths.temporary));
  }

  /** For work that only frees space: its failure is reported and spoils nothing. */
  async #tidy(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#options.observer.onCompactionFailed?.(compactionError(error));
    }
  }

  #postpone(error: unknown): void {
    this.#compactAtBytes = this.#current.bytes + this.#threshold();
    this.#options.observer.onCompactionFailed?.(compactionError(error));
  }

  /** Total work stays linear: between two snapshots at least a snapshot's worth was written. */
  #threshold(): number {
    return Math.max(this.#options.limits.minCompactBytes, this.#snapshotBytes);
  }
}

function compactionError(cause: unknown): BigFleetError {
  return unavailable('the journal could not be compacted', cause);
}

// The durable store (provider-contract §13): snapshot plus journal, group commit, one writer. A resolved
// commit is on disk, a rejected one left nothing, and a process killed at any byte loads exactly
// the acknowledged state (plus at most the one batch that was under way).
//
// States: created → loading → first boot → ready → closed. Refuses: a locked, damaged or unreadable
// state (rejects, never starts empty), and commits before `load` (and `initialise` on first boot).

import {
  assert,
  AssertionError,
  type BigFleetError,
  type Runtime,
  toBigFleetError,
} from '@bigfleet/base';
import type { ExclusiveLock } from '@bigfleet/process';
import type { Store, StoreChange, StoreImage } from '../store.ts';
import { encodeChanges } from './change-lines.ts';
import { CommitQueue, type PendingCommit } from './commit-queue.ts';
import { corrupt, locked, unavailable } from './failures.ts';
import type { Files } from './files.ts';
import { Generations, type GenerationsOptions } from './generations.ts';
import { StateImage } from '../state-image.ts';
import { DEFAULT_LIMITS, type JournalLimits, type JournalObserver } from './options.ts';
import { nodeFiles } from './node-files.ts';
import { type Recovered, recover } from './recover.ts';
import { type StatePaths, statePaths } from './state-paths.ts';

export interface JournalStoreOptions {
  /** `--state`: a file, or a directory to hold `state.json`. */
  readonly path: string;
  readonly runtime: Pick<Runtime, 'clock' | 'timers' | 'entropy'>;
  readonly observer?: JournalObserver;
  readonly limits?: Partial<JournalLimits>;
  /** The real file system when absent. */
  readonly files?: Files;
}

export function createJournalStore(options: JournalStoreOptions): Store {
  return new JournalStore(options);
}

const INCARNATION_BYTES = 16;

type State = 'created' | 'first-boot' | 'ready' | 'closed';

class JournalStore implements Store {
  readonly #options: JournalStoreOptions;
  readonly #files: Files;
  readonly #limits: JournalLimits;
  readonly #observer: JournalObserver;
  readonly #queue: CommitQueue;
  #state: State = 'created';
  #paths: StatePaths | undefined;
  #lock: ExclusiveLock | undefined;
  #image: StateImage | undefined;
  #generations: Generations | undefined;
  #writing: Promise<void> | undefined;

  constructor(options: JournalStoreOptions) {
    this.#options = options;
    this.#files = options.files ?? nodeFiles;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#observer = options.observer ?? {};
    this.#queue = new CommitQueue(this.#limits);
  }

  async load(): Promise<StoreImage | undefined> {
    assert(this.#state === 'created', 'a store is loaded once');
    try {
      const paths = await this.#claim();
      const newIncarnation = Buffer.from(
        this.#options.runtime.entropy.bytes(INCARNATION_BYTES),
      ).toString('hex');
      const found = await recover({ files: this.#files, paths, newIncarnation });
      await this.#adopt(paths, found);
    } catch (error) {
      this.#state = 'closed';
      this.#lock?.release();
      throw toBigFleetError(error, 'store_unavailable');
    }
    return this.#image?.toStoreImage();
  }

  async initialise(incarnation: string): Promise<void> {
    assert(this.#state === 'first-boot', 'only an empty store is initialised');
    const image = new StateImage(incarnation);
    try {
      await this.#begin(this.#claimed(), image);
    } catch (error) {
      // Not again in this process: the failed attempt may have left a snapshot that counts.
      this.#state = 'closed';
      this.#lock?.release();
      throw unavailable('the first state could not be written', error);
    }
  }

  commit(changes: readonly StoreChange[]): Promise<void> {
    assert(this.#state !== 'created' && this.#state !== 'first-boot', 'commit before load');
    if (this.#state === 'closed') return Promise.reject(unavailable('the store is closed'));
    const payload = encodeChanges(changes);
    const bytes = payload.reduce((sum, part) => sum + part.length, 0);
    if (bytes > this.#limits.maxJournalBytes) {
      return Promise.reject(
        unavailable(`one commit of ${bytes} bytes is more than a journal holds`),
      );
    }
    return new Promise<void>((resolve, reject) => {
      const refused = this.#queue.push({ changes, payload, bytes, resolve, reject });
      if (refused !== undefined) reject(refused);
      else this.#writing ??= this.#writeWhileQueued();
    });
  }

  async close(): Promise<void> {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    await this.#writing;
    await this.#generations?.close();
    this.#lock?.release();
  }

  /** The supervisor of all writing, one batch at a time. Rejects for a bug only, and ends us. */
  async #writeWhileQueued(): Promise<void> {
    while (!this.#queue.isEmpty) {
      // One turn: callers that the last batch released join this one instead of the one after.
      await this.#options.runtime.timers.turn();
      await this.#writeBatch(this.#queue.take());
    }
    this.#writing = undefined;
  }

  async #writeBatch(batch: readonly PendingCommit[]): Promise<void> {
    const { clock } = this.#options.runtime;
    const startMs = clock.monotonicMs();
    const bytes = batch.reduce((sum, commit) => sum + commit.bytes, 0);
    const generations = this.#ready();
    try {
      const payload = batch.flatMap((commit) => commit.payload);
      if (bytes > 0) await generations.append(payload, bytes);
    } catch (error) {
      if (error instanceof AssertionError) throw error;
      this.#refuse(batch, unavailable('the change could not be written', error));
      return;
    }
    for (const commit of batch) this.#image?.applyAll(commit.changes);
    const durationMs = clock.monotonicMs() - startMs;
    this.#observer.onCommitted?.({ commitCount: batch.length, bytes, durationMs });
    for (const commit of batch) commit.resolve();
    await generations.compactIfDue();
  }

  #refuse(batch: readonly PendingCommit[], error: BigFleetError): void {
    this.#observer.onCommitFailed?.(error);
    for (const commit of batch) commit.reject(error);
  }

  /** Directory and lock; nothing is read before the lock is ours. */
  async #claim(): Promise<StatePaths> {
    const { path } = this.#options;
    const kind = await this.#files.kindOf(path);
    // Through a link, two paths would lead to one state and to two locks.
    if (kind === 'symlink') throw corrupt(path, 'it is a symbolic link; give the path it leads to');
    const paths = statePaths(path, kind);
    await this.#files.makeDirectory(paths.directory);
    const lock = await this.#files.lock(paths.lock);
    if (lock === 'held') throw locked(paths.snapshot, paths.lock);
    this.#lock = lock;
    this.#paths = paths;
    return paths;
  }

  async #adopt(paths: StatePaths, found: Recovered): Promise<void> {
    if (found.kind === 'first-boot') {
      this.#state = 'first-boot';
      return;
    }
    if (found.kind === 'legacy') return this.#begin(paths, found.image);
    const { image } = found.snapshot;
    this.#image = image;
    this.#generations = new Generations(this.#generationsOf(paths, image), found);
    this.#state = 'ready';
  }

  async #begin(paths: StatePaths, image: StateImage): Promise<void> {
    this.#generations = await Generations.begin(this.#generationsOf(paths, image));
    this.#image = image;
    this.#state = 'ready';
  }

  #generationsOf(paths: StatePaths, image: StateImage): GenerationsOptions {
    return {
      files: this.#files,
      paths,
      image,
      runtime: this.#options.runtime,
      limits: this.#limits,
      observer: this.#observer,
    };
  }

  #claimed(): StatePaths {
    assert(this.#paths !== undefined, 'a loaded store has paths');
    return this.#paths;
  }

  #ready(): Generations {
    assert(this.#generations !== undefined, 'a loaded store has generations');
    return this.#generations;
  }
}

// A disk that remembers every operation, so that a test can ask what it would hold had the machine
// stopped at any byte: the process killed (everything written is there) or the power cut (only what
// was synced is there, for file contents and for directory entries separately). One directory.

import { basename } from 'node:path';
import type { ExclusiveLock } from '@bigfleet/process';
import type { FileKind, Files, OpenFile } from '../files.ts';

/** What happened, in order. `note` marks what the test itself did, such as an acknowledgement. */
export type DiskEvent =
  | { readonly kind: 'create'; readonly name: string; readonly inode: number }
  | { readonly kind: 'write'; readonly inode: number; readonly at: number; readonly bytes: Buffer }
  | { readonly kind: 'truncate'; readonly inode: number; readonly length: number }
  | { readonly kind: 'sync'; readonly inode: number }
  | { readonly kind: 'rename'; readonly from: string; readonly to: string }
  | { readonly kind: 'remove'; readonly name: string }
  | { readonly kind: 'sync-directory' }
  | { readonly kind: 'note'; readonly text: string };

/** File contents by name. */
export type DiskImage = ReadonlyMap<string, Buffer>;

/** Which of what was not synced survives the crash. */
export interface Survival {
  readonly contents: 'all' | 'synced';
  readonly entries: 'all' | 'synced';
}

export const SURVIVALS: readonly Survival[] = [
  { contents: 'all', entries: 'all' },
  { contents: 'synced', entries: 'synced' },
  { contents: 'all', entries: 'synced' },
  { contents: 'synced', entries: 'all' },
];

/** Contents and entries, each as written and as synced. */
export class DiskState {
  readonly #contents = new Map<number, Buffer>();
  readonly #syncedContents = new Map<number, Buffer>();
  readonly #entries = new Map<string, number>();
  #syncedEntries: ReadonlyMap<string, number> = new Map();

  static of(image: DiskImage): DiskState {
    const state = new DiskState();
    let inode = -1;
    for (const [name, bytes] of image) {
      state.#entries.set(name, inode);
      state.#contents.set(inode, bytes);
      state.#syncedContents.set(inode, bytes);
      inode -= 1;
    }
    state.#syncedEntries = new Map(state.#entries);
    return state;
  }

  copy(): DiskState {
    const state = new DiskState();
    for (const [inode, bytes] of this.#contents) state.#contents.set(inode, bytes);
    for (const [inode, bytes] of this.#syncedContents) state.#syncedContents.set(inode, bytes);
    for (const [name, inode] of this.#entries) state.#entries.set(name, inode);
    state.#syncedEntries = this.#syncedEntries;
    return state;
  }

  apply(event: DiskEvent): void {
    switch (event.kind) {
      case 'create':
        this.#entries.set(event.name, event.inode);
        this.#contents.set(event.inode, Buffer.alloc(0));
        return;
      case 'write':
        this.#contents.set(event.inode, spliced(this.content(event.inode), event.at, event.bytes));
        return;
      case 'truncate':
        this.#contents.set(event.inode, resized(this.content(event.inode), event.length));
        return;
      case 'sync':
        this.#syncedContents.set(event.inode, this.content(event.inode));
        return;
      case 'rename':
        this.#entries.set(event.to, this.#entries.get(event.from) ?? 0);
        this.#entries.delete(event.from);
        return;
      case 'remove':
        this.#entries.delete(event.name);
        return;
      case 'sync-directory':
        this.#syncedEntries = new Map(this.#entries);
        return;
      case 'note':
        return;
    }
  }

  inodeOf(name: string): number | undefined {
    return this.#entries.get(name);
  }

  names(): readonly string[] {
    return [...this.#entries.keys()];
  }

  content(inode: number): Buffer {
    return this.#contents.get(inode) ?? Buffer.alloc(0);
  }

  after({ contents, entries }: Survival): DiskImage {
    const image = new Map<string, Buffer>();
    for (const [name, inode] of entries === 'all' ? this.#entries : this.#syncedEntries) {
      const synced = this.#syncedContents.get(inode) ?? Buffer.alloc(0);
      image.set(name, contents === 'all' ? this.content(inode) : synced);
    }
    return image;
  }
}

export class SimulatedDisk {
  readonly state: DiskState;
  readonly events: DiskEvent[] = [];
  readonly #locks = new Set<string>();
  /** Counts restarts: calls of an earlier process never return and do nothing. */
  #process = 0;
  #nextInode = 1;
  #bytesUntilDeath = Number.POSITIVE_INFINITY;

  constructor(image: DiskImage = new Map()) {
    this.state = DiskState.of(image);
  }

  note(text: string): void {
    this.#record({ kind: 'note', text });
  }

  /** The process writes this many more bytes; then its calls never return. */
  dieAfterBytes(count: number): void {
    this.#bytesUntilDeath = count;
  }

  /** For the next process: the old one is gone, and with it its locks. */
  restart(): void {
    this.#process += 1;
    this.#bytesUntilDeath = Number.POSITIVE_INFINITY;
    this.#locks.clear();
  }

  /** The file system of the process that runs now. */
  get files(): Files {
    const owner = this.#process;
    const call = <T>(work: () => T): Promise<T> => this.#call(owner, work);
    const kind = (path: string): FileKind => (this.#find(path) === undefined ? 'absent' : 'file');
    return {
      kindOf: (path) => call(() => kind(path)),
      makeDirectory: () => call(() => {}),
      list: () => call(() => this.state.names()),
      open: (path) => call(() => this.#fileOf(owner, this.#find(path) ?? fail(path))),
      create: (path) => call(() => this.#create(owner, basename(path))),
      rename: (from, to) =>
        call(() => this.#record({ kind: 'rename', from: basename(from), to: basename(to) })),
      remove: (path) => call(() => this.#record({ kind: 'remove', name: basename(path) })),
      syncDirectory: () => call(() => this.#record({ kind: 'sync-directory' })),
      lock: (path) => call(() => this.#lock(path)),
    };
  }

  #call<T>(owner: number, work: () => T): Promise<T> {
    const isDead = owner !== this.#process || this.#bytesUntilDeath <= 0;
    if (isDead) return new Promise<T>(() => {});
    return new Promise<T>((resolve) => resolve(work()));
  }

  #lock(path: string): ExclusiveLock | 'held' {
    if (this.#locks.has(path)) return 'held';
    this.#locks.add(path);
    return {
      release: () => void this.#locks.delete(path),
    };
  }

  #create(owner: number, name: string): OpenFile {
    const inode = this.#nextInode++;
    this.#record({ kind: 'create', name, inode });
    return this.#fileOf(owner, inode);
  }

  #fileOf(owner: number, inode: number): OpenFile {
    const call = <T>(work: () => T): Promise<T> => this.#call(owner, work);
    const content = (): Buffer => this.state.content(inode);
    return {
      size: () => call(() => content().length),
      read: (at, length) => call(() => Buffer.from(content().subarray(at, at + length))),
      write: async (bytes, at) => {
        const taken = await call(() => this.#write(inode, Buffer.from(bytes), at));
        // Dead in the middle of the write: the caller never learns how far it came.
        return taken < bytes.length ? new Promise<number>(() => {}) : taken;
      },
      truncate: (length) => call(() => this.#record({ kind: 'truncate', inode, length })),
      sync: () => call(() => this.#record({ kind: 'sync', inode })),
      close: () => call(() => {}),
    };
  }

  #write(inode: number, bytes: Buffer, at: number): number {
    const taken = bytes.subarray(0, this.#bytesUntilDeath);
    this.#bytesUntilDeath -= taken.length;
    this.#record({ kind: 'write', inode, at, bytes: taken });
    return taken.length;
  }

  #find(path: string): number | undefined {
    return this.state.inodeOf(basename(path));
  }

  #record(event: DiskEvent): void {
    this.events.push(event);
    this.state.apply(event);
  }
}

function fail(path: string): never {
  throw new Error(`ENOENT: no such file, open '${path}'`);
}

function spliced(content: Buffer, at: number, bytes: Buffer): Buffer {
  const result = Buffer.alloc(Math.max(content.length, at + bytes.length));
  content.copy(result);
  bytes.copy(result, at);
  return result;
}

function resized(content: Buffer, length: number): Buffer {
  return spliced(content.subarray(0, length), length, Buffer.alloc(0));
}

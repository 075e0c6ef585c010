// The directory within its bound of bytes: an open segment of each kind, closed ones behind them,
// oldest dropped first. The bound holds at every moment: what does not fit beside the open
// segments is refused. One call at a time; the writer's queue sees to that.

import { segmentHeader } from './segment-format.ts';
import {
  type SegmentFile,
  type SegmentFiles,
  type SegmentKind,
  segmentName,
} from './segment-files.ts';

interface Segment {
  readonly name: string;
  bytes: number;
}

interface OpenSegment {
  readonly segment: Segment;
  readonly file: SegmentFile;
}

export interface SegmentStoreOptions {
  readonly files: SegmentFiles;
  readonly epoch: bigint;
  readonly maxBytes: number;
}

export class SegmentStore {
  readonly #options: SegmentStoreOptions;
  readonly #open = new Map<SegmentKind, OpenSegment>();
  /** Oldest first; undefined until the directory was looked at. */
  #segments: Segment[] | undefined;
  #number = 0;

  constructor(options: SegmentStoreOptions) {
    this.#options = options;
  }

  /** Of everything in the directory, as far as it is known. */
  get bytes(): number {
    return (this.#segments ?? []).reduce((sum, { bytes }) => sum + bytes, 0);
  }

  openBytes(kind: SegmentKind): number | undefined {
    return this.#open.get(kind)?.segment.bytes;
  }

  /** Ends the open segment of the kind and starts another one. */
  async begin(kind: SegmentKind): Promise<void> {
    await this.end(kind);
    const segments = await this.#present();
    const { files, epoch } = this.#options;
    const segment: Segment = { name: segmentName(epoch, this.#number++, kind), bytes: 0 };
    const file = await files.create(segment.name);
    this.#open.set(kind, { segment, file });
    segments.push(segment);
    if (kind === 'records') await this.append(kind, segmentHeader(epoch));
  }

  /** False when it does not fit, however much is dropped. Throws what the disk throws. */
  async append(kind: SegmentKind, bytes: Uint8Array): Promise<boolean> {
    const open = this.#open.get(kind);
    if (open === undefined || !(await this.#makeRoom(bytes.length))) return false;
    // Counted first: a write that fails may have left any part of it.
    open.segment.bytes += bytes.length;
    await open.file.append(bytes);
    return true;
  }

  async end(kind: SegmentKind): Promise<void> {
    const open = this.#open.get(kind);
    this.#open.delete(kind);
    await open?.file.close();
  }

  async #list(): Promise<Segment[]> {
    this.#segments ??= (await this.#options.files.list()).map(({ name, bytes }) => ({
      name,
      bytes,
    }));
    return this.#segments;
  }

  /** Without what somebody else deleted, which may be all of it at any time. */
  async #present(): Promise<Segment[]> {
    const names = new Set((await this.#options.files.list()).map(({ name }) => name));
    const known = await this.#list();
    this.#segments = known.filter((segment) => names.has(segment.name));
    return this.#segments;
  }

  async #makeRoom(more: number): Promise<boolean> {
    const segments = await this.#list();
    let total = this.bytes + more;
    while (total > this.#options.maxBytes) {
      const oldest = segments.findIndex((segment) => !this.#isOpen(segment));
      const [dropped] = oldest < 0 ? [] : segments.slice(oldest, oldest + 1);
      if (dropped === undefined) return false;
      await this.#options.files.remove(dropped.name);
      segments.splice(oldest, 1);
      total -= dropped.bytes;
    }
    return true;
  }

  #isOpen(segment: Segment): boolean {
    return [...this.#open.values()].some((open) => open.segment === segment);
  }
}

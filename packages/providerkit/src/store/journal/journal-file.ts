// One journal on disk, open for appending. Knows how many bytes are acknowledged and keeps the
// file at that length: after a failed write the rest is cut off before anything else is appended,
// or a reader would find garbage in front of good frames.
//
// After a failed fsync the kernel may drop the bytes and report success the next time, so nothing
// is ever appended behind them: the file is in doubt, and the store starts another generation.

import { assert } from '@bigfleet/base';
import { type Files, type OpenFile, writeAll } from './files.ts';
import { encodeFileHeader, encodeFrameHeader, FILE_HEADER_BYTES } from './frame.ts';

/** Header and payload up to here go out in one write. */
const MAX_JOINED_BYTES = 1 << 20;

export interface JournalPlace {
  readonly path: string;
  readonly generation: number;
}

export class JournalFile {
  readonly path: string;
  readonly generation: number;
  readonly #file: OpenFile;
  #bytes: number;
  #frameCount: number;
  #tail: 'clean' | 'partial' | 'in-doubt' = 'clean';

  constructor(place: JournalPlace, file: OpenFile, found: { bytes: number; frameCount: number }) {
    this.path = place.path;
    this.generation = place.generation;
    this.#file = file;
    this.#bytes = found.bytes;
    this.#frameCount = found.frameCount;
  }

  /** Durable when it resolves, its directory entry included; leaves nothing open when it fails. */
  static async create(files: Files, directory: string, place: JournalPlace): Promise<JournalFile> {
    const file = await files.create(place.path);
    try {
      await writeAll(file, encodeFileHeader(place.generation), 0);
      await file.sync();
      await files.syncDirectory(directory);
    } catch (error) {
      await file.close();
      throw error;
    }
    return new JournalFile(place, file, { bytes: FILE_HEADER_BYTES, frameCount: 0 });
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** An fsync failed: what the disk holds behind the good bytes is unknown. */
  get inDoubt(): boolean {
    return this.#tail === 'in-doubt';
  }

  /** Resolves when the frame is durable. When it rejects, the frame is not part of the journal. */
  async append(payload: readonly Buffer[]): Promise<void> {
    assert(this.#tail !== 'in-doubt', 'a journal in doubt takes no more frames');
    await this.dropTail();
    const { generation } = this;
    const header = encodeFrameHeader({ generation, index: this.#frameCount, payload });
    const end = await this.#write([header, ...payload]);
    try {
      await this.#file.sync();
    } catch (error) {
      this.#tail = 'in-doubt';
      throw error;
    }
    this.#bytes = end;
    this.#frameCount += 1;
  }

  /**
   * After a failed append: frees the space at once, and keeps a refused frame from coming back
   * after a crash. The next append tries again if this fails; a file in doubt stays in doubt.
   */
  async dropTail(): Promise<void> {
    if (this.#tail === 'clean') return;
    await this.#file.truncate(this.#bytes);
    if (this.#tail === 'partial') this.#tail = 'clean';
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  /** Where the bytes end. */
  async #write(parts: readonly Buffer[]): Promise<number> {
    let at = this.#bytes;
    this.#tail = 'partial';
    for (const part of joined(parts)) {
      await writeAll(this.#file, part, at);
      at += part.length;
    }
    this.#tail = 'clean';
    return at;
  }
}

function joined(parts: readonly Buffer[]): readonly Buffer[] {
  const bytes = parts.reduce((sum, part) => sum + part.length, 0);
  return bytes <= MAX_JOINED_BYTES ? [Buffer.concat(parts)] : parts;
}

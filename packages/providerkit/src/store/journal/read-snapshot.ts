// Reads a snapshot of ours, line by line, and checks it to the last byte. Renames are atomic, so a
// broken one is damage, never a crash: it is refused, not repaired.

import { crc32 } from 'node:zlib';
import { corrupt } from './failures.ts';
import type { OpenFile } from './files.ts';
import { StateImage } from '../state-image.ts';
import { parsed } from './change-lines.ts';
import {
  checksumLine,
  CLOSE_RECORDS,
  FORMAT,
  OPEN_FENCES,
  OPEN_MACHINES,
  OPEN_OPERATIONS,
  type Section,
} from './snapshot-layout.ts';
import {
  count,
  fenceOf,
  FormError,
  machineOf,
  objectOf,
  operationOf,
  text,
} from './stored-forms.ts';

const CHUNK_BYTES = 1 << 20;
const NEWLINE = 0x0a;

export interface LoadedSnapshot {
  readonly generation: number;
  readonly image: StateImage;
  readonly bytes: number;
}

/** Rejects with `store_corrupt`, or with the platform's error when the disk can't be read. */
export async function readSnapshot(file: OpenFile, path: string): Promise<LoadedSnapshot> {
  const reader = new SnapshotReader();
  let lineNumber = 0;
  try {
    for await (const line of linesOf(file)) {
      lineNumber += 1;
      reader.take(line);
    }
    return reader.finish(await file.size());
  } catch (error) {
    if (error instanceof FormError)
      throw corrupt(path, `line ${lineNumber}: ${error.message}`, error);
    throw error;
  }
}

/** Without their newline. Throws FormError for bytes behind the last newline. */
async function* linesOf(file: OpenFile): AsyncGenerator<Buffer> {
  let at = 0;
  let rest: Buffer = Buffer.alloc(0);
  for (;;) {
    // As much again as is left over, so that one huge line costs linear time, not quadratic.
    const read = await file.read(at, Math.max(CHUNK_BYTES, rest.length));
    if (read.length === 0) break;
    at += read.length;
    rest = rest.length === 0 ? Buffer.from(read) : Buffer.concat([rest, read]);
    let start = 0;
    for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE, start)) {
      yield rest.subarray(start, end);
      start = end + 1;
    }
    rest = rest.subarray(start);
  }
  if (rest.length > 0) throw new FormError('the last line has no end');
}

type Stage = 'head' | 'open' | Section | 'checksum' | 'end';

class SnapshotReader {
  #stage: Stage = 'head';
  #crc = 0;
  #generation = 0;
  #image: StateImage | undefined;

  take(line: Buffer): void {
    const content = line.toString('utf8');
    if (this.#stage === 'checksum') {
      if (content !== checksumLine(this.#crc)) throw new FormError('the checksum does not match');
      this.#stage = 'end';
      return;
    }
    this.#crc = crc32('\n', crc32(line, this.#crc));
    this.#stage = this.#next(content);
  }

  finish(bytes: number): LoadedSnapshot {
    if (this.#stage !== 'end' || this.#image === undefined) {
      throw new FormError('the file ends before its checksum');
    }
    return { generation: this.#generation, image: this.#image, bytes };
  }

  /** The stage after this line. */
  #next(content: string): Stage {
    switch (this.#stage) {
      case 'head':
        this.#takeHead(content);
        return 'open';
      case 'open':
        return expected(content, OPEN_MACHINES, 'machines');
      case 'machines':
        return content === OPEN_FENCES ? 'fences' : this.#takeRecord('machines', content);
      case 'fences':
        return content === OPEN_OPERATIONS ? 'ops' : this.#takeRecord('fences', content);
      case 'ops':
        return content === CLOSE_RECORDS ? 'checksum' : this.#takeRecord('ops', content);
      case 'checksum':
      case 'end':
        throw new FormError('something follows the checksum');
    }
  }

  #takeHead(content: string): void {
    const form = objectOf(parsed(`${content.slice(0, -1)}}`), 'head');
    const format = count(form, 'format');
    if (format !== FORMAT) {
      throw new FormError(
        `format ${format} was written by another version, this one reads ${FORMAT}`,
      );
    }
    this.#generation = count(form, 'generation');
    this.#image = new StateImage(text(form, 'incarnation'));
    this.#image.revision = count(form, 'rev');
  }

  #takeRecord(section: Section, content: string): Stage {
    const value = parsed(content.startsWith(',') ? content.slice(1) : content);
    if (section === 'machines') this.#image?.apply({ kind: 'machine', record: machineOf(value) });
    else if (section === 'ops') {
      this.#image?.apply({ kind: 'operation', operation: operationOf(value) });
    } else {
      const mark = fenceOf(value);
      if (mark !== undefined) this.#image?.apply({ kind: 'fence', mark });
    }
    return section;
  }
}

function expected(content: string, wanted: string, next: Stage): Stage {
  if (content !== wanted) throw new FormError(`expected ${wanted}`);
  return next;
}

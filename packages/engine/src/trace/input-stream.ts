// Engine inputs as bytes between two threads of one process: the entries of a trace without its
// frames and checksums, because memory is not a disk. Both ends keep the dictionaries, so batches
// must arrive whole, once and in order, as a message port delivers them.

import { assert } from '@bigfleet/base';
import { ByteReader } from '../bytes/byte-reader.ts';
import { ByteWriter } from '../bytes/byte-writer.ts';
import { EntryDecoder } from './entry-decoder.ts';
import { EntryEncoder } from './entry-encoder.ts';
import type { TraceEntry } from './entry.ts';
import { Op } from './format.ts';

export class InputEncoder {
  readonly #out: ByteWriter = new ByteWriter();
  readonly #encoder: EntryEncoder = new EntryEncoder(this.#out);

  /** Bytes that wait to be taken. */
  get length(): number {
    return this.#out.length;
  }

  /** What no trace could hold is refused where it enters the process; here it is a bug. */
  write(entry: TraceEntry): void {
    this.#encoder.renewDictionaries();
    const problem = this.#encoder.encode(entry);
    assert(problem === undefined, 'an input that cannot cross threads', { problem: problem ?? '' });
  }

  /** The bytes so far, in a buffer of their own that may be transferred. */
  take(): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(this.#out.length);
    bytes.set(this.#out.written);
    this.#out.clear();
    return bytes;
  }
}

export class InputDecoder {
  readonly #decoder: EntryDecoder = new EntryDecoder();

  *decode(bytes: Uint8Array): Generator<TraceEntry, void> {
    const reader = new ByteReader(bytes);
    while (reader.remaining > 0) {
      const op = reader.byte();
      assert(op !== Op.end, 'an input stream has no end');
      const entry = this.#decoder.decode(op, reader);
      assert(reader.problem === undefined, 'inputs between threads are damaged', {
        problem: reader.problem ?? '',
      });
      if (entry !== undefined) yield entry;
    }
  }
}

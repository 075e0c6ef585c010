// Reads a trace: yields its entries in order and says at the end how it ended. Everything that
// was yielded is intact; a torn tail, a flipped bit or a foreign file ends the reading without
// an exception. Memory is one frame and the dictionaries, both bounded.

import { ByteReader } from '../bytes/byte-reader.ts';
import { ByteSource, type TraceSource } from '../bytes/byte-source.ts';
import { crc32c } from './crc32c.ts';
import { EntryDecoder } from './entry-decoder.ts';
import type { TraceEnd, TraceEntry } from './entry.ts';
import {
  EndCode,
  FRAME_HEAD_BYTES,
  FRAME_TAIL_BYTES,
  HEADER_BYTES,
  Op,
  TRACE_MAGIC,
  OLDEST_TRACE_VERSION,
  TRACE_VERSION,
} from './format.ts';
import { FrontDecoder } from './front-coding.ts';
import { TraceGrammar } from './grammar.ts';
import { MAX_FRAME_BYTES } from './limits.ts';

export class TraceReader implements Iterable<TraceEntry> {
  readonly #source: ByteSource;
  readonly #decoder: EntryDecoder = new EntryDecoder();
  readonly #grammar: TraceGrammar = new TraceGrammar();
  #chain = 0;
  #offset = 0;
  #end: TraceEnd | undefined;

  /** Reads once, from the start. */
  constructor(source: TraceSource) {
    this.#source = new ByteSource(source);
  }

  /** Where the frame begins that the last entry came from. */
  get offset(): number {
    return this.#offset;
  }

  /** Undefined while there is more to read. */
  get end(): TraceEnd | undefined {
    return this.#end;
  }

  *[Symbol.iterator](): Generator<TraceEntry, void> {
    this.#readHeader();
    while (this.#end === undefined) {
      const payload = this.#readFrame();
      if (payload !== undefined) yield* this.#readEntries(new ByteReader(payload));
    }
  }

  #readHeader(): void {
    const header = this.#source.take(HEADER_BYTES);
    if (header.some((byte, at) => at < TRACE_MAGIC.length && byte !== TRACE_MAGIC[at])) {
      this.#end = { kind: 'not_a_trace' };
      return;
    }
    if (header.length < HEADER_BYTES) {
      this.#end = { kind: 'torn', offset: 0 };
      return;
    }
    const view = viewOf(header);
    const version = view.getUint16(TRACE_MAGIC.length, true);
    // The version first: only its own readers know what follows it.
    const isKnown = version >= OLDEST_TRACE_VERSION && version <= TRACE_VERSION;
    if (!isKnown) this.#end = { kind: 'unsupported_version', version };
    this.#chain = crc32c(header.subarray(0, HEADER_BYTES - 4));
    if (view.getUint32(HEADER_BYTES - 4, true) !== this.#chain) this.#corrupt('the header');
  }

  #readFrame(): Uint8Array | undefined {
    if (this.#source.isAtEnd()) {
      this.#end = { kind: 'open' };
      return undefined;
    }
    this.#offset = this.#source.offset;
    const head = this.#source.take(FRAME_HEAD_BYTES);
    if (head.length < FRAME_HEAD_BYTES) return this.#torn();
    const view = viewOf(head);
    const length = view.getUint32(0, true);
    const check = crc32c(head.subarray(0, 4), this.#chain);
    if (view.getUint32(4, true) !== check) return this.#corrupt('checksum of the length');
    if (length === 0 || length > MAX_FRAME_BYTES) return this.#corrupt('size of the frame');
    const body = this.#source.take(length + FRAME_TAIL_BYTES);
    if (body.length < length + FRAME_TAIL_BYTES) return this.#torn();
    const payload = body.subarray(0, length);
    this.#chain = crc32c(payload, check);
    if (viewOf(body).getUint32(length, true) !== this.#chain) return this.#corrupt('checksum');
    return payload;
  }

  *#readEntries(reader: ByteReader): Generator<TraceEntry, void> {
    while (reader.remaining > 0 && this.#end === undefined) {
      const op = reader.byte();
      if (op === Op.end) {
        this.#readEnd(reader);
        return;
      }
      const entry = this.#decoder.decode(op, reader);
      if (!reader.hasFailed && entry !== undefined && !this.#grammar.accept(entry.kind)) {
        reader.fail(`${entry.kind} where it may not stand`);
      }
      if (reader.hasFailed) this.#corrupt(reader.problem ?? '');
      else if (entry !== undefined) yield entry;
    }
  }

  #readEnd(reader: ByteReader): void {
    const code = reader.byte();
    const reason = code === EndCode.abandoned ? new FrontDecoder().read(reader) : '';
    if (code > EndCode.abandoned) reader.fail('no such end');
    if (reader.remaining > 0 || !this.#source.isAtEnd()) reader.fail('something follows the end');
    if (reader.hasFailed) this.#corrupt(reader.problem ?? '');
    else this.#end = code === EndCode.closed ? { kind: 'closed' } : { kind: 'abandoned', reason };
  }

  #torn(): undefined {
    this.#end = { kind: 'torn', offset: this.#offset };
  }

  #corrupt(problem: string): undefined {
    this.#end ??= { kind: 'corrupt', offset: this.#offset, problem };
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

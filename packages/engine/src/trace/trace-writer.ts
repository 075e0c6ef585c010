// Writes a trace to a sink, append only. Entries gather in a frame that is handed over when it
// is large enough, when a cycle begins and on `flush`: so a process that dies inside a cycle
// leaves everything that led to it. The sink owns the bytes it gets.
//
// Refuses what a trace cannot hold (see RecordingProblem): it then ends the trace with the
// reason and ignores what follows. It throws neither for an input nor for a sink that throws: a
// full disk must not cost a run its next move.

import { assert } from '@bigfleet/base';
import { ByteWriter } from '../bytes/byte-writer.ts';
import { crc32c } from './crc32c.ts';
import { EntryEncoder } from './entry-encoder.ts';
import type { TraceEntry } from './entry.ts';
import {
  EndCode,
  FRAME_HEAD_BYTES,
  FRAME_TAIL_BYTES,
  HEADER_BYTES,
  Op,
  TRACE_MAGIC,
  TRACE_VERSION,
} from './format.ts';
import { FrontEncoder } from './front-coding.ts';
import { TraceGrammar } from './grammar.ts';
import {
  FRAME_FLUSH_BYTES,
  MAX_DICTIONARY_BYTES,
  MAX_DICTIONARY_ENTRIES,
  MAX_FRAME_BYTES,
  type RecordingProblem,
} from './limits.ts';

/** Takes the next bytes of the trace. If it throws, the trace ends where it was. */
export type TraceSink = (bytes: Uint8Array) => void;

export interface TraceWriterOptions {
  /** Dictionary entries after which they start afresh: bounds the writer's memory. */
  readonly dictionaryEntries?: number;
}

export class TraceWriter {
  readonly #sink: TraceSink;
  readonly #dictionaryEntries: number | undefined;
  readonly #frame: ByteWriter = new ByteWriter();
  readonly #encoder: EntryEncoder = new EntryEncoder(this.#frame);
  readonly #grammar: TraceGrammar = new TraceGrammar();
  #chain: number;
  #problem: RecordingProblem | undefined;

  constructor(sink: TraceSink, options: TraceWriterOptions = {}) {
    this.#sink = sink;
    this.#dictionaryEntries = options.dictionaryEntries;
    const header = headerBytes();
    this.#chain = crc32c(header.subarray(0, HEADER_BYTES - 4));
    this.#hand(header);
  }

  /** Why the trace ended before its run did. */
  get problem(): RecordingProblem | undefined {
    return this.#problem;
  }

  get isEnded(): boolean {
    return this.#grammar.isEnded;
  }

  write(entry: TraceEntry): void {
    if (this.#grammar.isEnded) return;
    assert(this.#grammar.accept(entry.kind), 'an entry where it may not stand', {
      kind: entry.kind,
    });
    this.#encoder.renewDictionaries(this.#dictionaryEntries);
    const start = this.#frame.length;
    const problem = this.#encoder.encode(entry);
    const isTooLarge =
      this.#frame.length > MAX_FRAME_BYTES ||
      this.#encoder.dictionaryEntries > MAX_DICTIONARY_ENTRIES ||
      this.#encoder.dictionaryBytes > MAX_DICTIONARY_BYTES;
    if (problem !== undefined || isTooLarge) {
      this.#frame.truncate(start);
      this.abandon(problem ?? 'entry_too_large');
    } else if (entry.kind === 'cycle' || this.#frame.length >= FRAME_FLUSH_BYTES) {
      this.flush();
    }
  }

  flush(): void {
    if (this.#frame.length === 0) return;
    const payload = this.#frame.written;
    const bytes = new Uint8Array(FRAME_HEAD_BYTES + payload.length + FRAME_TAIL_BYTES);
    const view = new DataView(bytes.buffer);
    view.setUint32(0, payload.length, true);
    const head = crc32c(bytes.subarray(0, 4), this.#chain);
    view.setUint32(4, head, true);
    bytes.set(payload, FRAME_HEAD_BYTES);
    this.#chain = crc32c(payload, head);
    view.setUint32(FRAME_HEAD_BYTES + payload.length, this.#chain, true);
    this.#frame.clear();
    this.#hand(bytes);
  }

  /** The run is over. */
  close(): void {
    if (this.#grammar.isEnded) return;
    this.#grammar.end();
    this.#frame.byte(Op.end);
    this.#frame.byte(EndCode.closed);
    this.flush();
  }

  /** The trace ends here though the run goes on. */
  abandon(problem: RecordingProblem): void {
    if (this.#grammar.isEnded) return;
    this.#grammar.end();
    this.#problem = problem;
    this.#frame.byte(Op.end);
    this.#frame.byte(EndCode.abandoned);
    new FrontEncoder().write(problem, this.#frame);
    this.flush();
  }

  #hand(bytes: Uint8Array): void {
    try {
      this.#sink(bytes);
    } catch {
      // Nothing may follow bytes that did not arrive: the rest would read as corruption.
      this.#grammar.end();
      this.#problem = 'sink_failed';
      this.#frame.clear();
    }
  }
}

function headerBytes(): Uint8Array {
  const header = new ByteWriter();
  header.bytes(TRACE_MAGIC);
  header.byte(TRACE_VERSION & 0xff);
  header.byte(TRACE_VERSION >>> 8);
  header.byte(0);
  header.byte(0);
  header.uint32(crc32c(header.written));
  assert(header.length === HEADER_BYTES, 'the header has a fixed size');
  return header.written.slice();
}

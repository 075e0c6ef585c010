// The bytes of the trace on their way out of the engine's thread: gathered while inputs arrive,
// handed over with each answer. A part continues the trace before it unless it starts another one.
// The gathered bytes are bounded; beyond the bound the trace ends where it is, and the owner of the
// disk asks for another one.

import { BigFleetError } from '@bigfleet/base';
import type { TraceSink } from '@bigfleet/engine';
import { joinBytes } from '../provider/list/byte-ranges.ts';

/** More than half a million machines of a first List take. */
const MAX_WAITING_BYTES: number = 1 << 27;

export interface TracePart {
  /** The first bytes of a trace: it begins with the whole state. */
  readonly isStart: boolean;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

interface Stream {
  isStart: boolean;
  chunks: Uint8Array[];
}

export class TraceParts {
  readonly #maxBytes: number;
  /** In order; all but the last are ended. */
  #streams: Stream[] = [];
  #waitingBytes = 0;

  constructor(maxBytes: number = MAX_WAITING_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** Where the next trace goes; the one before may still hand over its end. */
  begin(): TraceSink {
    const stream: Stream = { isStart: true, chunks: [] };
    this.#streams.push(stream);
    return (bytes) => {
      if (this.#waitingBytes + bytes.length > this.#maxBytes) {
        throw new BigFleetError('trace_lost', 'too many bytes of the trace wait for an answer');
      }
      this.#waitingBytes += bytes.length;
      stream.chunks.push(bytes);
    };
  }

  take(): readonly TracePart[] {
    const parts = this.#streams.map(({ isStart, chunks }) => ({
      isStart,
      bytes: joinBytes(chunks),
    }));
    this.#streams = this.#streams.slice(-1);
    for (const stream of this.#streams) {
      stream.isStart &&= stream.chunks.length === 0;
      stream.chunks = [];
    }
    this.#waitingBytes = 0;
    return parts.filter(({ bytes }) => bytes.length > 0);
  }
}

// The newest records in memory, for readers that follow: a record can be read here before it is on
// disk. Bounded; a reader that falls out of it goes on from the files.

import type { StoredRecord } from '../records/segment-format.ts';

const KEPT_RECORDS = 64;
const KEPT_BYTES: number = 1 << 24;

export class RecordTail {
  #records: StoredRecord[] = [];
  #bytes = 0;
  readonly #waiting = new Set<() => void>();
  #isClosed = false;

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Everything from here on is in memory; 1 when there was no record yet. */
  get oldestCycle(): bigint {
    return this.#records[0]?.cycle ?? 1n;
  }

  append(record: StoredRecord): void {
    this.#records.push(record);
    this.#bytes += sizeOf(record);
    while (this.#records.length > KEPT_RECORDS || this.#bytes > KEPT_BYTES) {
      const [oldest] = this.#records.splice(0, 1);
      if (oldest === undefined) break;
      this.#bytes -= sizeOf(oldest);
    }
    this.#wakeAll();
  }

  /** Every record after the cycle; undefined when some of them are only in the files. */
  since(cycle: bigint): readonly StoredRecord[] | undefined {
    if (this.oldestCycle > cycle + 1n) return undefined;
    return this.#records.filter((record) => record.cycle > cycle);
  }

  /** Resolves when a record came, when the tail ends, or when the signal aborts. */
  changed(signal: AbortSignal): Promise<void> {
    if (this.#isClosed || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        this.#waiting.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#waiting.add(done);
      signal.addEventListener('abort', done, { once: true });
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#wakeAll();
  }

  #wakeAll(): void {
    for (const wake of this.#waiting) wake();
  }
}

function sizeOf({ payload, dispositions }: StoredRecord): number {
  return payload.length + dispositions.length;
}

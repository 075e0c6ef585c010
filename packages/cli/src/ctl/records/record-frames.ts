// Frames of one shard as records: the dispositions of a cycle come in a frame of their own, before
// the record they belong to. Holds one frame.

import { isDispositions } from '@bigfleet/engine';
import type { RecordFrame } from '@bigfleet/wire';

export class RecordFrames {
  #dispositions: RecordFrame | undefined;

  /** Called for every record, with what the shard sent of its dispositions; empty without. */
  readonly #onRecord: (frame: RecordFrame, dispositions: Uint8Array) => void;

  constructor(onRecord: (frame: RecordFrame, dispositions: Uint8Array) => void) {
    this.#onRecord = onRecord;
  }

  add(frame: RecordFrame): void {
    if (isDispositions(frame.payload)) {
      this.#dispositions = frame;
      return;
    }
    const before = this.#dispositions;
    this.#dispositions = undefined;
    const isItsOwn = before?.cycle === frame.cycle && before.shardEpoch === frame.shardEpoch;
    this.#onRecord(frame, isItsOwn ? before.payload : new Uint8Array(0));
  }
}

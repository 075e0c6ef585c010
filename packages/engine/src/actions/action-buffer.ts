// The actions of one cycle as columns that are reused from cycle to cycle: fixed width, so that
// they can cross a thread without being copied object by object.

import { assert } from '@bigfleet/base';
import type { ActionKindCode } from '../model/action.ts';
import { grown } from '../store/classes.ts';
import type { Row } from '../needs/row.ts';

export class ActionBuffer {
  #length = 0;
  kind: Uint8Array = new Uint8Array(256);
  slot: Int32Array = new Int32Array(256);
  /** Cluster index, −1 for Delete. */
  cluster: Int32Array = new Int32Array(256);
  graceSeconds: Int32Array = new Int32Array(256);
  preemptorPriority: Int32Array = new Int32Array(256);
  /** The need that the action serves: acquisitions and preemptions. */
  readonly row: (Row | undefined)[] = [];

  get length(): number {
    return this.#length;
  }

  clear(): void {
    this.row.length = 0;
    this.#length = 0;
  }

  push(kind: ActionKindCode, slot: number, cluster: number, row: Row | undefined): number {
    assert(slot >= 0, 'an action is about a machine');
    const at = this.#length++;
    if (at >= this.kind.length) this.#grow();
    this.kind[at] = kind;
    this.slot[at] = slot;
    this.cluster[at] = cluster;
    this.graceSeconds[at] = 0;
    this.preemptorPriority[at] = 0;
    this.row.push(row);
    return at;
  }

  /** Over every column, in order: equal buffers have equal checksums. */
  checksum(): number {
    let hash = this.#length | 0;
    for (let at = 0; at < this.#length; at++) {
      hash = mix(hash, this.kind[at]!);
      hash = mix(hash, this.slot[at]!);
      hash = mix(hash, this.cluster[at]!);
      hash = mix(hash, this.graceSeconds[at]!);
      hash = mix(hash, this.preemptorPriority[at]!);
      hash = mix(hash, this.row[at]?.demandHash ?? 0);
    }
    return hash >>> 0;
  }

  #grow(): void {
    const capacity = this.kind.length * 2;
    this.kind = grown(this.kind, new Uint8Array(capacity));
    this.slot = grown(this.slot, new Int32Array(capacity));
    this.cluster = grown(this.cluster, new Int32Array(capacity));
    this.graceSeconds = grown(this.graceSeconds, new Int32Array(capacity));
    this.preemptorPriority = grown(this.preemptorPriority, new Int32Array(capacity));
  }
}

function mix(hash: number, value: number): number {
  const mixed = Math.imul(hash ^ value, 0x9e37_79b1);
  return mixed ^ (mixed >>> 15);
}

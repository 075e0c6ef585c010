// One machine is one slot across these columns: 56 bytes, so that half a million machines stay
// near the cache. Only the inventory writes them. Strings, hosts and error texts are cold and
// live beside it.

import { grown } from './classes.ts';

export class Columns {
  #capacity = 0;
  state: Uint8Array = new Uint8Array(0);
  /** Interchangeability class. */
  klass: Uint32Array = new Uint32Array(0);
  /** Cluster index, −1 unbound. */
  cluster: Int32Array = new Int32Array(0);
  /** For which cluster a Creating machine was bought, −1 unknown. */
  intended: Int32Array = new Int32Array(0);
  /** Interned fingerprint and group of the need that the machine serves; 0 none. */
  needFp: Uint32Array = new Uint32Array(0);
  group: Uint32Array = new Uint32Array(0);
  /** As stamped at Configure. */
  priority: Int32Array = new Int32Array(0);
  interruptionBucket: Uint8Array = new Uint8Array(0);
  reclamationBucket: Uint8Array = new Uint8Array(0);
  /** Compares like the id. */
  rank: Uint32Array = new Uint32Array(0);
  /** The higher of the stamped priority and that of the claiming need. */
  effectivePriority: Int32Array = new Int32Array(0);
  /** Place in the victim index. */
  victimPosition: Int32Array = new Int32Array(0);
  idleSinceMs: Float64Array = new Float64Array(0);
  /** 0, or why the machine is not ours to act on. */
  withheld: Uint8Array = new Uint8Array(0);
  /** Hash of the id, for the input digest. */
  idHash: Uint32Array = new Uint32Array(0);
  /** Interned provider of the host reference, plus 1; 0 without a host. */
  hostProvider: Uint16Array = new Uint16Array(0);
  /** Counts reuses of the slot, so that a late answer about the old machine is recognised. */
  generation: Uint16Array = new Uint16Array(0);

  ensure(slots: number): void {
    if (slots <= this.#capacity) return;
    const capacity = Math.max(1024, this.#capacity * 2, slots);
    this.state = grown(this.state, new Uint8Array(capacity));
    this.klass = grown(this.klass, new Uint32Array(capacity));
    this.cluster = grown(this.cluster, new Int32Array(capacity));
    this.intended = grown(this.intended, new Int32Array(capacity));
    this.needFp = grown(this.needFp, new Uint32Array(capacity));
    this.group = grown(this.group, new Uint32Array(capacity));
    this.priority = grown(this.priority, new Int32Array(capacity));
    this.interruptionBucket = grown(this.interruptionBucket, new Uint8Array(capacity));
    this.reclamationBucket = grown(this.reclamationBucket, new Uint8Array(capacity));
    this.rank = grown(this.rank, new Uint32Array(capacity));
    this.effectivePriority = grown(this.effectivePriority, new Int32Array(capacity));
    this.victimPosition = grown(this.victimPosition, new Int32Array(capacity));
    this.idleSinceMs = grown(this.idleSinceMs, new Float64Array(capacity));
    this.withheld = grown(this.withheld, new Uint8Array(capacity));
    this.idHash = grown(this.idHash, new Uint32Array(capacity));
    this.hostProvider = grown(this.hostProvider, new Uint16Array(capacity));
    this.generation = grown(this.generation, new Uint16Array(capacity));
    this.#capacity = capacity;
  }
}

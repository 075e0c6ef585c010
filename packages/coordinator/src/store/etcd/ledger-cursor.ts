// What this leader knows to be in etcd: the apply record and its revision, and the revision of every
// row. Guards compare with exactly this, so whatever changed behind our back makes a transaction
// fail instead of being overwritten (G3, G5). Filled by a load, moved by our own commits only.

import type { RowKey } from '../../state/writes.ts';
import { type ApplyValue, firstApply } from './values.ts';

export class LedgerCursor {
  #rows: Map<RowKey, bigint> = new Map();
  #apply: ApplyValue = firstApply;
  #applyRevision = 0n;

  get apply(): ApplyValue {
    return this.#apply;
  }

  get applyRevision(): bigint {
    return this.#applyRevision;
  }

  /** 0 = there is no such row. */
  revisionOf(key: RowKey): bigint {
    return this.#rows.get(key) ?? 0n;
  }

  /** After a load: everything anew. Bounded by the rows of the store itself. */
  replace(rows: Map<RowKey, bigint>, apply: ApplyValue, applyRevision: bigint): void {
    this.#rows = rows;
    this.moveApply(apply, applyRevision);
  }

  moveApply(apply: ApplyValue, applyRevision: bigint): void {
    this.#apply = apply;
    this.#applyRevision = applyRevision;
  }

  wrote(key: RowKey, revision: bigint): void {
    this.#rows.set(key, revision);
  }

  removed(key: RowKey): void {
    this.#rows.delete(key);
  }
}

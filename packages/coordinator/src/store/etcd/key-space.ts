// The keys below `--etcd-prefix` (coordinator §3.3), as bytes. Row keys are what `state/keys.ts`
// writes, so a row has the same name in both engines. Several installations may share one etcd:
// nothing here ever touches a key outside the prefix.

import { assert } from '@bigfleet/base';
import type { RowKey } from '../../state/rows.ts';

const defaultPrefix = '/bigfleet/';

export interface KeyRange {
  readonly key: Uint8Array;
  readonly rangeEnd: Uint8Array;
}

export class KeySpace {
  readonly leader: Uint8Array;
  readonly schema: Uint8Array;
  readonly clusterUid: Uint8Array;
  readonly term: Uint8Array;
  readonly apply: Uint8Array;
  readonly all: KeyRange;
  readonly replicas: KeyRange;
  readonly #prefix: string;

  constructor(prefix: string = defaultPrefix) {
    assert(prefix.length > 1 && prefix.endsWith('/'), 'a key prefix ends with a slash', { prefix });
    this.#prefix = prefix;
    this.leader = this.row('leader');
    this.schema = this.row('meta/schema');
    this.clusterUid = this.row('meta/cluster_uid');
    this.term = this.row('meta/term');
    this.apply = this.row('meta/apply');
    this.all = rangeOf(prefix);
    this.replicas = rangeOf(`${prefix}replicas/`);
  }

  row(key: RowKey): Uint8Array {
    return bytesOf(this.#prefix + key);
  }

  replica(nodeId: string): Uint8Array {
    return this.row(`replicas/${encodeURIComponent(nodeId)}`);
  }

  /** What follows the prefix. */
  nameOf(key: Uint8Array): RowKey {
    return textOf(key).slice(this.#prefix.length);
  }
}

/** Every key with this prefix: up to the prefix with its last byte raised, a slash in all cases. */
function rangeOf(prefix: string): KeyRange {
  return { key: bytesOf(prefix), rangeEnd: bytesOf(`${prefix.slice(0, -1)}0`) };
}

export function bytesOf(text: string): Uint8Array {
  return Buffer.from(text, 'utf8');
}

export function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

// The layout of the stored state. A store of a higher schema is refused: its rows mean something
// that this version does not know.

import type { Runtime } from '@bigfleet/base';
import type { Meta } from './rows.ts';

export const SCHEMA = 1;
const CLUSTER_UID_BYTES = 16;

/** Of a store that was never written; the term rises with the first leadership. */
export function firstMeta(runtime: Pick<Runtime, 'entropy'>): Meta {
  return {
    schema: SCHEMA,
    clusterUid: Buffer.from(runtime.entropy.bytes(CLUSTER_UID_BYTES)).toString('hex'),
    term: 0n,
    applyIndex: 0,
    lastCommandId: '',
    assignmentRevision: 0,
    ledgerGeneration: 0,
  };
}

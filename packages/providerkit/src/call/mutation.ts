// One mutating call, as the kit sees it: decoded, copied, independent of the transport.

import type { FencingToken } from '@bigfleet/wire';
import type { MachineRecord } from '../model/machine.ts';

interface Common {
  readonly machineId: string;
  readonly token: FencingToken;
}

export type Mutation =
  | (Common & { readonly kind: 'create' })
  | (Common & {
      readonly kind: 'configure';
      readonly clusterId: string;
      readonly bootstrapBlob: Uint8Array;
      readonly shardMetadata: ReadonlyMap<string, string>;
    })
  | (Common & { readonly kind: 'drain'; readonly gracePeriodSeconds: bigint })
  | (Common & { readonly kind: 'delete' });

/** `machine` is one instant: state, binding and metadata belong together. */
export interface Ack {
  readonly operationId: string;
  readonly machine: MachineRecord;
}

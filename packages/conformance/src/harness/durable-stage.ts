// What the durable lane's checks compare: everything that the provider acknowledged before it was
// killed, and the first List that it answered afterwards (read before any check touched it, so
// that the checks may run in any order).

import type { Answer, Inventory } from './endpoint.ts';
import type { State, TextMap } from './machine.ts';

export interface AcknowledgedState {
  /** IDLE; its fence mark for `shardId` stands at the last of `tokens`. */
  readonly fenced: {
    readonly machineId: string;
    readonly shardId: string;
    /** Accepted in this order, the last one just before the kill. */
    readonly tokens: readonly { readonly epoch: bigint; readonly sequence: bigint }[];
  };
  /** CONFIGURED. */
  readonly bound: {
    readonly machineId: string;
    readonly clusterId: string;
    readonly metadata: TextMap;
    readonly operationId: string;
  };
  readonly states: ReadonlyMap<string, State>;
  readonly operationIds: ReadonlySet<string>;
}

export interface DurableStage {
  readonly before: AcknowledgedState;
  readonly after: Answer<Inventory>;
}

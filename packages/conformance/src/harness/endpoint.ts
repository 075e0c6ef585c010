// The endpoint under judgement: the six RPCs and nothing else. Every answer is a value, because a
// status code is what most behaviours are about; an exception here means that the run was
// cancelled, or a bug of the suite. Tokens are bigint and maps are Map all the way to the bytes.
// A test wraps this interface to play a wrong provider (testing/tamper.ts).

import type { FailureCode, FencingToken } from '@bigfleet/wire';
import type { MachineView, State, TextMap } from './machine.ts';

export type Answer<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly code: FailureCode; readonly message: string };

export interface Ack {
  readonly operationId: string;
  /** The snapshot at acceptance; a provider may leave it out. */
  readonly machine: MachineView | undefined;
}

export interface Inventory {
  readonly machines: readonly MachineView[];
  /** Opaque: compared for equality and sent back, never read. */
  readonly revision: Uint8Array;
}

/** Without a token all three of its fields are empty: the unfenced call. */
export interface MachineCall {
  readonly machineId: string;
  readonly token?: FencingToken | undefined;
}

export interface ConfigureCall extends MachineCall {
  readonly clusterId: string;
  readonly blob?: Uint8Array | undefined;
  readonly metadata?: TextMap | undefined;
}

export interface DrainCall extends MachineCall {
  readonly graceSeconds: bigint;
}

export interface ListQuery {
  /** Absent or empty: any. */
  readonly states?: readonly State[] | undefined;
  /** Absent or 0: no cap. */
  readonly maxResults?: number | undefined;
  readonly since?: Uint8Array | undefined;
}

export interface Endpoint {
  /** For messages: what was dialled. */
  readonly target: string;
  create(call: MachineCall): Promise<Answer<Ack>>;
  configure(call: ConfigureCall): Promise<Answer<Ack>>;
  drain(call: DrainCall): Promise<Answer<Ack>>;
  delete(call: MachineCall): Promise<Answer<Ack>>;
  get(machineId: string): Promise<Answer<MachineView>>;
  list(query?: ListQuery): Promise<Answer<Inventory>>;
  /** Idempotent. */
  close(): void;
}

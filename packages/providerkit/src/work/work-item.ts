// One accepted transition's work: what it needs to run, and to be run again after a restart. The
// bootstrap blob lives here and nowhere else; it is never stored.

import type { MachineRecord, OperationKind } from '../model/machine.ts';
import type { FencingToken } from '@bigfleet/wire';

export type WorkInputs =
  | { readonly kind: 'create' }
  | { readonly kind: 'configure'; readonly clusterId: string; readonly bootstrapBlob: Uint8Array }
  | { readonly kind: 'drain'; readonly gracePeriodSeconds: number }
  | { readonly kind: 'delete' };

export interface WorkOrder {
  readonly machineId: string;
  readonly operationId: string;
  readonly inputs: WorkInputs;
}

/** A day: beyond it a grace is a mistake, and the machine must not be Draining for ever. */
const MAX_GRACE_SECONDS = 86_400n;

export function inputsOf(mutation: Mutation): WorkInputs {
  switch (mutation.kind) {
    case 'create':
    case 'delete':
      return { kind: mutation.kind };
    case 'configure': {
      const { kind, clusterId, bootstrapBlob } = mutation;
      return { kind, clusterId, bootstrapBlob };
    }
    case 'drain':
      return drainInputs(mutation.gracePeriodSeconds);
  }
}

export function drainInputs(gracePeriodSeconds: bigint): WorkInputs {
  const bounded = gracePeriodSeconds > MAX_GRACE_SECONDS ? MAX_GRACE_SECONDS : gracePeriodSeconds;
  return { kind: 'drain', gracePeriodSeconds: Number(bounded) };
}

/** The hook's 120 s plus 30 s (providers A5): less would fail every long drain. */
const DRAIN_MARGIN_MS = 150_000;

export function timeoutOf(
  inputs: WorkInputs,
  timeouts: Readonly<Record<OperationKind, number>>,
): number {
  if (inputs.kind !== 'drain') return timeouts[inputs.kind];
  return Math.max(timeouts.drain, inputs.gracePeriodSeconds * 1_000 + DRAIN_MARGIN_MS);
}

/** One mutating call, as the kit sees it: decoded, copied, independent of the transport. */
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

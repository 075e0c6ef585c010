// Demand of a shape as frames of a session, encoded once: what a client costs must not be measured.

import { type Need, printResources } from '@bigfleet/engine';
import {
  encodeInit,
  fromMap,
  type Operator,
  OperatorMessageSchema,
  type PenaltyBucket,
} from '@bigfleet/wire';
import { nudge } from '../engine/churn.ts';

type Frame = Parameters<typeof encodeInit<typeof OperatorMessageSchema>>[1];

/** The shard keeps when a row was first seen; the time of a roll-up only says that it is one. */
const ROLLUP_UNIX_NANOS = 1_767_225_600_000_000_000n;

export function rollupFrame(clusterId: string, needs: readonly Need[]): Uint8Array {
  const value = {
    clusterId,
    timestampUnixNanos: ROLLUP_UNIX_NANOS,
    needs: needs.map(wireNeed),
  };
  return frame({ payload: { case: 'rollup', value } });
}

/** The same demand with the first rows one quantum smaller: changed, and served all the same. */
export function nudgedFrame(
  clusterId: string,
  needs: readonly Need[],
  changedRows: number,
): Uint8Array {
  const changed = needs.map((need, at) => (at < changedRows ? nudge(need) : need));
  return rollupFrame(clusterId, changed);
}

export function helloFrame(clusterId: string): Uint8Array {
  const value = { clusterId, protocolVersion: 'v1alpha1' };
  return frame({ payload: { case: 'hello', value } });
}

export function blobFrame(requestId: string): Uint8Array {
  const value = { requestId, userData: new Uint8Array(64), ttlSeconds: 600n };
  return frame({ payload: { case: 'bootstrapResponse', value } });
}

function wireNeed({ profile, aggregate, minUnit, group }: Need) {
  const { requirements, priority, interruptionBucket, reclamationBucket } = profile;
  return {
    requirements: requirements.map(({ key, operator, values }) => ({
      key,
      operator: operator as Operator,
      values: [...values],
    })),
    spread: [],
    aggregateResources: fromMap(printResources(aggregate)),
    minUnit: fromMap(printResources(minUnit)),
    priority,
    interruptionPenaltyBucket: interruptionBucket as number as PenaltyBucket,
    reclamationPenaltyBucket: reclamationBucket as number as PenaltyBucket,
    group,
  };
}

function frame(init: Frame): Uint8Array {
  return encodeInit(OperatorMessageSchema, init);
}

// A roll-up as the frame that carries it. Encoded once, when it is built, so that its size is known
// before it is sent: a roll-up over the message limit must never reach the stream, where it would
// end the session, be sent again by the next one, and freeze demand without a sign (kubernetes §2.1).

import {
  encodeInit,
  fromMap,
  type Operator,
  OperatorMessageSchema,
  type PenaltyBucket,
  type WhenUnsatisfiable,
} from '@bigfleet/wire';
import type { RollupNeed } from './rollup.ts';

export interface RollupEnvelope {
  readonly clusterId: string;
  readonly builtAtUnixNanos: bigint;
  readonly needs: readonly RollupNeed[];
}

export function encodeRollup({ clusterId, builtAtUnixNanos, needs }: RollupEnvelope): Uint8Array {
  return encodeInit(OperatorMessageSchema, {
    payload: {
      case: 'rollup',
      value: { clusterId, timestampUnixNanos: builtAtUnixNanos, needs: needs.map(needInit) },
    },
  });
}

function needInit({ profile, group, aggregateResources, minUnit }: RollupNeed) {
  return {
    requirements: profile.requirements.map(({ key, operator, values }) => ({
      key,
      operator: operator as Operator,
      values: [...values],
    })),
    aggregateResources: fromMap(aggregateResources),
    priority: profile.priority,
    spread: profile.spread.map(({ topologyKey, maxSkew, whenUnsatisfiable }) => ({
      topologyKey,
      maxSkew,
      whenUnsatisfiable: whenUnsatisfiable as WhenUnsatisfiable,
    })),
    interruptionPenaltyBucket: profile.interruptionBucket as number as PenaltyBucket,
    reclamationPenaltyBucket: profile.reclamationBucket as number as PenaltyBucket,
    minUnit: fromMap(minUnit),
    group,
  };
}

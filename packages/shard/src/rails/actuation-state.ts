// The actuation settings as the wire shows them (ShardStatus, SetActuation).

import { ActuationHold, type ActuationStateSchema, type encodeInit } from '@bigfleet/wire';
import type { ActuationView } from './actuation.ts';
import type { PauseHold } from './settings.ts';

export type ActuationStateInit = Parameters<typeof encodeInit<typeof ActuationStateSchema>>[1];

const HOLDS: Readonly<Record<PauseHold, ActuationHold>> = {
  flag: ActuationHold.FLAG,
  runtime: ActuationHold.RUNTIME,
  fenced: ActuationHold.FENCED,
};

export function actuationState({
  effective,
  overridden,
  change,
}: ActuationView): ActuationStateInit {
  const { heldBy, ...settings } = effective;
  return {
    ...settings,
    heldBy: heldBy.map((hold) => HOLDS[hold]),
    changedBy: change?.by ?? '',
    changedUnixNanos: change?.unixNanos ?? 0n,
    reason: change?.reason ?? '',
    overridden: [...overridden],
  };
}

// A pod of a workload object as the CapacityRequest that the operator's roll-up reads.

import { INSTANCE_TYPE_KEY, ZONE_KEY } from '@bigfleet/engine';
import type { CapacityRequestSpec } from '@bigfleet/kube';
import type { CapacityRequest } from '@bigfleet/operator';
import { sameKeyOf } from '@bigfleet/sim';
import type { WorkloadObject } from './workload-object.ts';

export function podUid({ name }: WorkloadObject, ordinal: number): string {
  return `${name}-${ordinal}`;
}

export function podRequest(
  object: WorkloadObject,
  ordinal: number,
  isAcknowledged: boolean,
): CapacityRequest {
  const uid = podUid(object, ordinal);
  return {
    namespace: 'demo',
    name: uid,
    uid,
    resourceVersion: '1',
    spec: specOf(object),
    isForeign: false,
    isAcknowledged,
  };
}

function specOf({
  name,
  archetype,
  resources,
  priority,
  spread,
}: WorkloadObject): CapacityRequestSpec {
  const topologyKey = sameKeyOf(archetype);
  return {
    requirements: [
      { key: INSTANCE_TYPE_KEY, operator: 'In', values: archetype.instanceTypes },
      { key: ZONE_KEY, operator: 'In', values: archetype.zones },
    ],
    resources,
    priority,
    interruptionPenalty: archetype.interruptionPenaltyDollars,
    reclamationPenalty: archetype.reclamationPenaltyDollars,
    topologySpread: spread === undefined ? undefined : [spread],
    coLocation:
      topologyKey === undefined
        ? undefined
        : { topologyKey, labelSelector: { matchLabels: { app: name } } },
  };
}

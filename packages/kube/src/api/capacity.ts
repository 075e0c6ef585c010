// BigFleet's three kinds and the names it puts on objects. The types are written from the definitions in
// `api/crd` by tools/crd; `make check` holds that they are the same.

export * from '../gen/capacity.ts';

/** Names that BigFleet puts on objects of a cluster. */
export const LABELS = {
  /** On a CapacityRequest: uid of its Pod. */
  ownedByPod: 'bigfleet.lucy.sh/owned-by-pod',
  /** On a CapacityRequest: its Pod runs on a node that BigFleet does not own. */
  foreignNode: 'bigfleet.lucy.sh/foreign-node',
  /** On a Node: the machine behind it. */
  machineId: 'bigfleet.lucy.sh/machine-id',
} as const;

export const ANNOTATIONS = {
  /** On a CapacityRequest: why the roll-up leaves it out. */
  excluded: 'bigfleet.lucy.sh/excluded',
  /** On a CapacityRequest: a hash per field that the pod controller derived. */
  derived: 'bigfleet.lucy.sh/derived',
  /** On a Node: the reclaim that cordoned it. */
  reclaim: 'bigfleet.lucy.sh/reclaim',
  /** On an UpcomingNode: the machine's id as it is. */
  machineId: 'bigfleet.lucy.sh/machine-id',
  /** On a Pod, from its owner. */
  interruptionPenalty: 'bigfleet.lucy.sh/interruption-penalty',
  reclamationPenalty: 'bigfleet.lucy.sh/reclamation-penalty',
} as const;

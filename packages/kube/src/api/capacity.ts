// BigFleet's three kinds as TypeScript reads and writes them; `api/crd/` is their definition, and
// `capacity.test.ts` compares the two.

/** Kubernetes' int-or-string. */
export type RawQuantity = string | number;

export interface NodeRequirement {
  readonly key: string;
  /** A free string in the schema; In, NotIn, Exists and DoesNotExist are supported. */
  readonly operator: string;
  readonly values?: readonly string[] | undefined;
}

export interface TopologySpreadTerm {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly whenUnsatisfiable: string;
}

export interface CoLocation {
  readonly topologyKey: string;
  readonly labelSelector?: CoLocationSelector | undefined;
}

export interface CoLocationSelector {
  readonly matchLabels?: Readonly<Record<string, string>> | undefined;
  readonly matchExpressions?: readonly NodeRequirement[] | undefined;
}

export interface CapacityRequestSpec {
  readonly requirements?: readonly NodeRequirement[] | undefined;
  /** The request vector of one pod. */
  readonly resources: Readonly<Record<string, RawQuantity>>;
  readonly priority: number;
  /** Dollars. */
  readonly interruptionPenalty?: RawQuantity | undefined;
  readonly reclamationPenalty?: RawQuantity | undefined;
  readonly topologySpread?: readonly TopologySpreadTerm[] | undefined;
  readonly coLocation?: CoLocation | undefined;
}

export interface CapacityRequestStatus {
  readonly phase: 'Pending' | 'Acknowledged';
  readonly acknowledgedAt?: string | undefined;
}

export const UPCOMING_NODE_PHASES = [
  'Provisioning',
  'Launched',
  'Registered',
  'Ready',
  'Draining',
  'Drained',
  'Failed',
] as const;

export type UpcomingNodePhase = (typeof UPCOMING_NODE_PHASES)[number];

export interface Taint {
  readonly key: string;
  readonly value?: string | undefined;
  readonly effect: string;
  readonly timeAdded?: string | undefined;
}

export interface UpcomingNodeSpec {
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly resources: Readonly<Record<string, RawQuantity>>;
  readonly taints?: readonly Taint[] | undefined;
}

export interface UpcomingNodeStatus {
  readonly phase: UpcomingNodePhase;
  readonly nodeRef?:
    | {
        readonly kind?: string | undefined;
        readonly name?: string | undefined;
        readonly uid?: string | undefined;
      }
    | undefined;
  readonly providerID?: string | undefined;
  readonly provisioningStartTime?: string | undefined;
  readonly lastError?: string | undefined;
}

export interface AvailableCapacitySpec {
  readonly requirements?: readonly NodeRequirement[] | undefined;
  readonly resources: Readonly<Record<string, RawQuantity>>;
  readonly availableCount: number;
  readonly availability: 'None' | 'Low' | 'Medium' | 'High';
  /** USD per hour; the schema requires it, so `"0"` when unknown. */
  readonly cost: string;
}

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

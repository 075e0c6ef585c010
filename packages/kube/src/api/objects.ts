// The parts of Kubernetes' own objects that BigFleet reads. The API server validated them, so their
// types hold; every field that the server may leave out is optional here.

import type { RawQuantity } from './capacity.ts';

export interface Metadata {
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly creationTimestamp?: string | undefined;
  readonly deletionTimestamp?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly ownerReferences?: readonly OwnerReference[] | undefined;
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean | undefined;
}

export type ResourceList = Readonly<Record<string, RawQuantity>>;

export interface ResourceRequirements {
  readonly requests?: ResourceList | undefined;
  readonly limits?: ResourceList | undefined;
}

export interface Container {
  readonly name: string;
  readonly resources?: ResourceRequirements | undefined;
  /** `Always` on an init container makes it a sidecar. */
  readonly restartPolicy?: string | undefined;
}

export interface SelectorExpression {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[] | undefined;
}

export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>> | undefined;
  readonly matchExpressions?: readonly SelectorExpression[] | undefined;
}

export interface PodAffinityTerm {
  readonly topologyKey: string;
  readonly labelSelector?: LabelSelector | undefined;
}

export interface Pod {
  readonly metadata: Metadata;
  readonly spec: {
    readonly nodeName?: string | undefined;
    readonly nodeSelector?: Readonly<Record<string, string>> | undefined;
    readonly affinity?:
      | {
          readonly nodeAffinity?: {
            readonly requiredDuringSchedulingIgnoredDuringExecution?: {
              readonly nodeSelectorTerms: readonly {
                readonly matchExpressions?: readonly SelectorExpression[] | undefined;
              }[];
            };
          };
          readonly podAffinity?: {
            readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[];
          };
        }
      | undefined;
    readonly topologySpreadConstraints?:
      | readonly {
          readonly topologyKey: string;
          readonly maxSkew: number;
          readonly whenUnsatisfiable: string;
        }[]
      | undefined;
    readonly priority?: number | undefined;
    readonly priorityClassName?: string | undefined;
    readonly schedulingGates?: readonly unknown[] | undefined;
    readonly containers: readonly Container[];
    readonly initContainers?: readonly Container[] | undefined;
    readonly overhead?: ResourceList | undefined;
    /** Requests of the Pod as a whole. */
    readonly resources?: ResourceRequirements | undefined;
    readonly terminationGracePeriodSeconds?: number | undefined;
  };
  readonly status?: { readonly phase?: string | undefined } | undefined;
}

export interface Node {
  readonly metadata: Metadata;
  readonly spec?:
    | { readonly providerID?: string | undefined; readonly unschedulable?: boolean | undefined }
    | undefined;
  readonly status?:
    | { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
    | undefined;
}

/** Static Pods of a kubelet, mirrored into the API: neither scheduled nor evictable. */
export function isMirrorPod({ metadata }: Pick<Pod, 'metadata'>): boolean {
  return metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined;
}

export function isDaemonSetPod({ metadata }: Pick<Pod, 'metadata'>): boolean {
  return (metadata.ownerReferences ?? []).some(
    (owner) =>
      owner.controller === true &&
      owner.kind === 'DaemonSet' &&
      owner.apiVersion.startsWith('apps/'),
  );
}

export function isTerminalPod({ status }: Pick<Pod, 'status'>): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

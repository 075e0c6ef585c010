// A workload object as the Deployment that a person would write for it: where its Pods may run, what they
// ask for, and what their end costs. The pod controller reads nothing but these Pods.

import { INSTANCE_TYPE_KEY, ZONE_KEY } from '@bigfleet/engine';
import { ANNOTATIONS, type NamedBody, type Pod } from '@bigfleet/kube';
import { priorityClassOf } from '@bigfleet/base';
import { sameKeyOf } from '@bigfleet/sim';
import { NAMESPACE } from '../kube/resources.ts';
import type { WorkloadObject } from './workload-object.ts';

/** Classes of the demo's clusters; each is named after what the summaries call its range. */
export const PRIORITY_CLASS_VALUES: readonly number[] = [100, 1_000, 1_000_000];

export interface PodTemplate {
  readonly metadata: Pick<Pod['metadata'], 'labels' | 'annotations'>;
  readonly spec: Omit<Pod['spec'], 'topologySpreadConstraints'> & {
    readonly topologySpreadConstraints: readonly Spread[];
  };
}

/** BigFleet reads no selector of a spread; a scheduler does. */
interface Spread {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly whenUnsatisfiable: string;
  readonly labelSelector: { readonly matchLabels: Readonly<Record<string, string>> };
}

export interface Deployment extends NamedBody {
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: {
    readonly replicas: number;
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
    readonly template: PodTemplate;
  };
}

/** Pods of the demo have nothing to finish: they end as soon as they are told to. */
const GRACE_SECONDS = 1;

export function deploymentOf(object: WorkloadObject, replicas: number): Deployment {
  const { name } = object;
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: NAMESPACE },
    spec: { replicas, selector: { matchLabels: { app: name } }, template: templateOf(object) },
  };
}

function templateOf(object: WorkloadObject): PodTemplate {
  const { name, archetype, resources, priority, spread } = object;
  const labelSelector = { matchLabels: { app: name } };
  return {
    metadata: {
      labels: { app: name },
      annotations: {
        [ANNOTATIONS.interruptionPenalty]: String(archetype.interruptionPenaltyDollars),
        [ANNOTATIONS.reclamationPenalty]: String(archetype.reclamationPenaltyDollars),
      },
    },
    spec: {
      priorityClassName: priorityClassOf(priority),
      terminationGracePeriodSeconds: GRACE_SECONDS,
      containers: [container(archetype.name, resources)],
      affinity: affinityOf(object),
      topologySpreadConstraints: spread === undefined ? [] : [{ ...spread, labelSelector }],
    },
  };
}

type Container = Pod['spec']['containers'][number] & { readonly image: string };

/** Extended resources are limits, everything else is a request. */
function container(name: string, resources: WorkloadObject['resources']): Container {
  const entries = Object.entries(resources);
  const isExtended = ([key]: readonly [string, string]): boolean => key.includes('/');
  return {
    name: 'main',
    image: `${name}:1`,
    resources: {
      requests: Object.fromEntries(entries.filter((entry) => !isExtended(entry))),
      limits: Object.fromEntries(entries.filter(isExtended)),
    },
  };
}

function affinityOf({ name, archetype }: WorkloadObject): Pod['spec']['affinity'] {
  const { instanceTypes, zones } = archetype;
  const topologyKey = sameKeyOf(archetype);
  const nodeAffinity = {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [
        {
          matchExpressions: [
            { key: INSTANCE_TYPE_KEY, operator: 'In', values: instanceTypes },
            { key: ZONE_KEY, operator: 'In', values: zones },
          ],
        },
      ],
    },
  };
  if (topologyKey === undefined) return { nodeAffinity };
  const together = { topologyKey, labelSelector: { matchLabels: { app: name } } };
  return {
    nodeAffinity,
    podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [together] },
  };
}

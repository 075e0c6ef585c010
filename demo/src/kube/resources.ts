// Kinds that the demo writes and BigFleet itself never does.

import type { Resource } from '@bigfleet/kube';

export const DEPLOYMENTS: Resource = {
  group: 'apps',
  version: 'v1',
  plural: 'deployments',
  kind: 'Deployment',
  isNamespaced: true,
};

export const PRIORITY_CLASSES: Resource = {
  group: 'scheduling.k8s.io',
  version: 'v1',
  plural: 'priorityclasses',
  kind: 'PriorityClass',
  isNamespaced: false,
};

/** Where `kubectl get pods` looks without being told. */
export const NAMESPACE = 'default';

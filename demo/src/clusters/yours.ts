// The Deployment that the demo's own workloads leave alone: a person scales it, and watches machines come
// and go. Its Pods have a machine type to themselves, two to a machine, so that they wait for nothing but
// machines.

import type { NamedBody } from '@bigfleet/kube';
import { NAMESPACE } from '../kube/resources.ts';

export const YOURS = 'yours';

export const yours: NamedBody = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: YOURS, namespace: NAMESPACE },
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: YOURS } },
    template: {
      metadata: { labels: { app: YOURS } },
      spec: {
        priorityClassName: 'service',
        terminationGracePeriodSeconds: 1,
        nodeSelector: { 'node.kubernetes.io/instance-type': 'm7i.xlarge' },
        containers: [
          {
            name: 'main',
            image: `${YOURS}:1`,
            resources: { requests: { cpu: '1900m', memory: '7Gi' } },
          },
        ],
      },
    },
  },
};

// The `scale` subresource of workloads: how many Pods, without the rest of the object. `kubectl scale`
// speaks to nothing else.

import { asList, asNumber, asObj, at, metaOf, type Obj, textMap } from './json.ts';
import { badRequest } from './status.ts';

export function scaleOf(workload: Obj): Obj {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metaOf(workload);
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: { replicas: asNumber(at(workload, 'spec', 'replicas')) ?? 1 },
    status: {
      replicas: asNumber(at(workload, 'status', 'replicas')) ?? 0,
      selector: selectorText(at(workload, 'spec', 'selector')),
    },
  };
}

/** The workload with the replicas of the Scale; its resourceVersion, when there is one, must still hold. */
export function scaled(workload: Obj, scale: Obj): Obj {
  const replicas = at(scale, 'spec', 'replicas') ?? 0;
  if (typeof replicas !== 'number' || !Number.isInteger(replicas) || replicas < 0) {
    throw badRequest(`spec.replicas: Invalid value: ${JSON.stringify(replicas)}: must be >= 0`);
  }
  const { resourceVersion } = metaOf(scale);
  return {
    ...workload,
    metadata: {
      ...metaOf(workload),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    },
    spec: { ...asObj(workload['spec']), replicas },
  };
}

function selectorText(selector: unknown): string {
  const equal = Object.entries(textMap(at(selector, 'matchLabels')));
  const terms = equal.map(([key, value]) => `${key}=${value}`).sort();
  // Expressions have no use here but to say that there are some.
  return asList(at(selector, 'matchExpressions')).length === 0 ? terms.join(',') : '';
}

// CapacityRequests for tests: what a test does not say is the plainest legal value.

import type { CapacityRequestSpec } from '@bigfleet/kube';
import type { CapacityRequest } from '../capacity-request.ts';

export interface RequestInit extends Partial<Omit<CapacityRequest, 'spec'>> {
  readonly spec?: Partial<CapacityRequestSpec>;
}

let lastUid = 0;

export function request(init: RequestInit = {}): CapacityRequest {
  lastUid++;
  const uid = init.uid ?? `uid-${lastUid}`;
  return {
    namespace: 'default',
    name: `cr-${uid}`,
    resourceVersion: '1',
    isForeign: false,
    isAcknowledged: false,
    ...init,
    uid,
    spec: { resources: { cpu: '1' }, priority: 0, ...init.spec },
  };
}

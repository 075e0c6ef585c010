// The machine or need that a request asks about.

import { BigFleetError } from '@bigfleet/base';
import type { ExplainSubject } from '@bigfleet/engine';
import type { NeedRef } from '@bigfleet/wire';

export function machineSubject(machineId: string): ExplainSubject {
  if (machineId === '') throw new BigFleetError('read_request_invalid', 'machine_id is empty');
  return { machineId };
}

export function needSubject({ clusterId, profileFingerprint, group }: NeedRef): ExplainSubject {
  if (clusterId === '' || profileFingerprint === '') {
    const text = 'a need is named by cluster_id and profile_fingerprint';
    throw new BigFleetError('read_request_invalid', text);
  }
  return { need: { cluster: clusterId, fingerprint: profileFingerprint, group } };
}

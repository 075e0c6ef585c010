// The StatefulSet ordinal at the end of `--id` (coordinator §3.6): every replica gets identical
// arguments, and only this number tells them apart. Without one, three replicas that all may
// bootstrap would form three clusters, so its absence is an error of the start.

import { BigFleetError } from '@bigfleet/base';

export function ordinalOf(nodeId: string): number {
  const found = /-(\d{1,6})$/.exec(nodeId)?.[1];
  if (found === undefined) {
    const message = `--id ${nodeId} has no ordinal at its end (like node-0), which --join-addr needs`;
    throw new BigFleetError('etcd_no_ordinal', message);
  }
  return Number(found);
}

// An endpoint whose every answer the test writes down, for testing the primitives alone. An RPC
// that the test did not write is a bug of the test.

import type { Endpoint } from '../endpoint.ts';
import type { MachineView } from '../machine.ts';
import type { Rpcs } from './tamper.ts';

export function scripted(rpcs: Partial<Rpcs>): Endpoint {
  const unexpected = (rpc: string) => async (): Promise<never> => {
    throw new Error(`the test does not expect ${rpc}`);
  };
  return {
    target: 'scripted',
    create: rpcs.create ?? unexpected('Create'),
    configure: rpcs.configure ?? unexpected('Configure'),
    drain: rpcs.drain ?? unexpected('Drain'),
    delete: rpcs.delete ?? unexpected('Delete'),
    get: rpcs.get ?? unexpected('Get'),
    list: rpcs.list ?? unexpected('List'),
    close: () => {},
  };
}

/** A machine in good shape; the test changes what it is about. */
export function machineView(changes: Partial<MachineView> = {}): MachineView {
  return {
    id: 'm-1',
    state: 'SPECULATIVE',
    host: undefined,
    instanceType: 'standard-4',
    zone: 'zone-a',
    capacityType: 'ON_DEMAND',
    pricePerHour: 0.4,
    interruptionProbability: 0,
    resources: new Map([['cpu', '4']]),
    allocatable: new Map([['cpu', '3900m']]),
    labels: new Map(),
    lastError: '',
    cluster: '',
    metadata: new Map(),
    ...changes,
  };
}

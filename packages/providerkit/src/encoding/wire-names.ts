// Names of states and capacity types to the numbers of the wire, in one table each.

import { CapacityType, MachineState } from '@bigfleet/wire';
import type { CapacityTypeName, MachineStateName } from '../model/machine.ts';

export const stateNumbers: Readonly<Record<MachineStateName, MachineState>> = {
  Speculative: MachineState.SPECULATIVE,
  Creating: MachineState.CREATING,
  Idle: MachineState.IDLE,
  Configuring: MachineState.CONFIGURING,
  Configured: MachineState.CONFIGURED,
  Draining: MachineState.DRAINING,
  Deleting: MachineState.DELETING,
  Failed: MachineState.FAILED,
};

export const capacityNumbers: Readonly<Record<CapacityTypeName, CapacityType>> = {
  BareMetal: CapacityType.BARE_METAL,
  Reserved: CapacityType.RESERVED,
  OnDemand: CapacityType.ON_DEMAND,
  Spot: CapacityType.SPOT,
};

// The public face of the in-memory transport.

export { EventLog, type EventLogOptions } from './event-log.ts';
export {
  calmLink,
  type Fault,
  type FaultEvent,
  type FaultPlan,
  faultText,
  type Latency,
  type LinkProfile,
  noFaults,
  perfectLink,
  type RandomFaultOptions,
  randomFaults,
  randomProfile,
  scriptedFaults,
} from './faults.ts';
export type { HostEvent } from './half.ts';
export type { Counters, OpenCounts } from './ledger.ts';
export {
  type ConnectOptions,
  createMemoryNetwork,
  type ListenOptions,
  type MemoryNetwork,
  type MemoryNetworkOptions,
} from './network.ts';
export type { MemoryServer } from './server.ts';
export {
  defaultSettings as defaultMemorySettings,
  type Settings as MemorySettings,
} from './settings.ts';

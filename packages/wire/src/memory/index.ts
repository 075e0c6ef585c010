// The public face of the in-memory transport.

export type { CallKind } from './echo/ledger.ts';
export { EchoLedger } from './echo/ledger.ts';
export type { EchoOptions } from './echo/system.ts';
export { EchoSystem } from './echo/system.ts';
export type { EventLogOptions } from './event-log.ts';
export { EventLog } from './event-log.ts';
export type {
  Fault,
  FaultEvent,
  FaultPlan,
  Latency,
  LinkProfile,
  RandomFaultOptions,
} from './faults.ts';
export {
  calmLink,
  faultText,
  noFaults,
  perfectLink,
  randomFaults,
  randomProfile,
  scriptedFaults,
} from './faults.ts';
export type { HostEvent } from './host.ts';
export type { Counters, OpenCounts } from './ledger.ts';
export type {
  ConnectOptions,
  ListenOptions,
  MemoryNetwork,
  MemoryNetworkOptions,
} from './network.ts';
export { createMemoryNetwork } from './network.ts';
export type { MemoryServer } from './server.ts';
export type { Settings as MemorySettings } from './settings.ts';
export { defaultSettings as defaultMemorySettings } from './settings.ts';

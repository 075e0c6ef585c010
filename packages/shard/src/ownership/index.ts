// What the shard owns, and the port through which it can be steered.

export type {
  DomainRef,
  MachineOverride,
  QuotaSlice,
  RegistryTarget,
  ShardAssignment,
} from './assignment.ts';
export type { FleetSummary } from './fleet-summary.ts';
export type { OwnershipOptions } from './open-ownership.ts';
export type { DirectoryEntry } from './provider-directory.ts';
export { ProviderDirectory } from './provider-directory.ts';
export type { ConnectedProvider, ConnectProvider } from './registry-follower.ts';
export type { MachineSelector, Preemptor } from './selection.ts';
export type {
  ForeignDrainOrder,
  HeldOwnership,
  OrderOutcome,
  OwnershipReport,
  PrepareOrder,
  ShardControl,
  TransferOrder,
} from './shard-control.ts';
export type { TransferReport } from './transfer-book.ts';

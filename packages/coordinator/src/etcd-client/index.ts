// The client's public face within the coordinator.

export type { EtcdUser } from './auth-token.ts';
export type { CallLimits } from './caller.ts';
export { EtcdClient, type EtcdClientOptions, type GrantedLease } from './client.ts';

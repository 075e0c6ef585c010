// How BigFleet's processes speak to a cluster's API server.

export * from './api/answer.ts';
export * from './api/capacity.ts';
export * from './api/client.ts';
export * from './api/events.ts';
export * from './api/lanes.ts';
export * from './api/lease.ts';
export type * from './api/objects.ts';
export { isDaemonSetPod, isMirrorPod, isTerminalPod } from './api/objects.ts';
export * from './api/pod-requests.ts';
export * from './api/resource.ts';
export type * from './auth/access.ts';
export { type AccessOptions, clusterAccess } from './auth/kubeconfig.ts';
export * from './process/running-program.ts';
export * from './reflector/reflector.ts';
export { FirstSync, type FirstSyncOptions } from './reflector/first-sync.ts';
export { schemaWatch, type SchemaWatchOptions } from './reflector/schema-watch.ts';
export { HttpsTransport, type HttpsTransportOptions } from './transport/https-transport.ts';
export type * from './transport/transport.ts';

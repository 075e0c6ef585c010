// The etcd engine on its own (`@bigfleet/coordinator/etcd`): for tests and benchmarks that run it
// against real servers. The coordinator's process wires it by itself.

export { EtcdClient, type EtcdClientOptions, type EtcdUser } from './etcd-client/index.ts';
export { handleJoin, type JoinResult } from './managed-etcd/join-handler.ts';
export type { JoinAnswer, JoinPort } from './managed-etcd/join-client.ts';
export {
  type ManagedEtcd,
  type ManagedEtcdEvent,
  type ManagedEtcdOptions,
  startManagedEtcd,
} from './managed-etcd/managed-etcd.ts';
export { promoteLearners, reconcileSelf } from './managed-etcd/membership.ts';
export { etcdRestore, type EtcdRestoreTools } from './managed-etcd/restore.ts';
export { EtcdStore } from './store/etcd/etcd-store.ts';
export type { EtcdStoreObserver, EtcdStoreOptions } from './store/etcd/options.ts';

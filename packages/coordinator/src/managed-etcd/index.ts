// The etcd engine on its own (`@bigfleet/coordinator/etcd`): for tests and benchmarks that run it
// against real servers. The coordinator's process wires it by itself.

export { EtcdClient } from '../etcd-client/client.ts';
export { handleJoin } from './join-handler.ts';
export type { JoinAnswer } from './join-client.ts';
export {
  type ManagedEtcd,
  type ManagedEtcdEvent,
  type ManagedEtcdOptions,
  startManagedEtcd,
} from './managed-etcd.ts';
export { promoteLearners, reconcileSelf } from './membership.ts';
export { etcdRestore } from './restore.ts';
export { EtcdStore } from '../store/etcd/etcd-store.ts';
export type { EtcdStoreOptions } from '../store/etcd/options.ts';

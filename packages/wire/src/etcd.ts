// The generated messages and services of etcd, the part that the coordinator's client calls. An
// entry point of its own (`@bigfleet/wire/etcd`): shards, operators, providers and browsers never
// talk to etcd and must not load its descriptors.

export * from './gen/etcd/kv_pb.ts';
export * from './gen/etcd/rpc_pb.ts';

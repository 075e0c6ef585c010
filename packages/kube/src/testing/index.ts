// A test API server for BigFleet's own tests and its demo: in process under virtual time, or over HTTP.

export * from './api-server/index.ts';
export * from './in-memory-transport.ts';
export * from './listen.ts';
export * from './stand-ins/join-blob.ts';
export * from './stand-ins/kubelets.ts';
export * from './stand-ins/retrying-work.ts';
export * from './stand-ins/scheduler.ts';
export {
  createDefinitions,
  PODS_PATH,
  REQUESTS_PATH,
  type TestCluster,
  testCluster,
} from './test-cluster.ts';
export { type StoredEvent, type StoredObject, TestWorld } from './world.ts';

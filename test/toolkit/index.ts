// The test toolkit's public face: real servers, real certificates, real partitions. For tests,
// benchmarks and the scale harness only; nothing that ships imports it.

export { eventually, type EventuallyOptions, type NotYet } from './eventually.ts';
export {
  etcdGet,
  etcdHealthy,
  etcdPut,
  etcdStatus,
  type EtcdEndpoint,
  type EtcdStatus,
} from './etcd-gateway.ts';
export {
  EtcdCluster,
  EtcdMember,
  startEtcd,
  type EtcdOptions,
  type EtcdTls,
} from './etcd.ts';
export { type LaneFaults, NO_FAULTS } from './fault-lane.ts';
export {
  type Direction,
  FaultProxy,
  type FaultProxyOptions,
  startFaultProxy,
} from './fault-proxy.ts';
export {
  type BuildResult,
  buildGoPrograms,
  builtPrograms,
  goCacheFolder,
  type GoModule,
} from './go-programs.ts';
export { http, type HttpAnswer, type HttpCall, type HttpTls } from './http.ts';
export { createNetwork, NetHost, type NetworkSpec, type Place, TestNetwork } from './netns.ts';
export { type NetnsSupport, netnsSupport } from './netns-support.ts';
export { INSTALL_COMMAND, missingCommands, requireCommand } from './packages.ts';
export {
  createPartitions,
  type PartitionBackend,
  type PartitionOptions,
  type Partitions,
} from './partition.ts';
export { createPemDir, PemDir, type PemFile, type PemLayout } from './pem-dir.ts';
export {
  FIXTURE_NAMES,
  type FixtureName,
  type FixtureVerdict,
  fixtureIdentity,
  fixtureVerdict,
  mintPki,
  TestPki,
} from './pki-fixtures.ts';
export {
  type CaSpec,
  CertificateAuthority,
  type KeyKind,
  type KeyUse,
  type Leaf,
  type LeafSpec,
  selfSignedLeaf,
  type Validity,
} from './pki.ts';
export { leasePort, leasePorts, type PortLease } from './ports.ts';
export {
  describeExit,
  type ProcessExit,
  type ProcessSpec,
  RunningProcess,
  startProcess,
} from './process.ts';
export type { PrometheusSample, PrometheusSeries, RangeQuery } from './prometheus-api.ts';
export {
  checkRules,
  Prometheus,
  type PrometheusOptions,
  type PromtoolVerdict,
  type ScrapeTarget,
  startPrometheus,
  testRules,
} from './prometheus.ts';
export { canConnect, type Readiness } from './readiness.ts';
export { connectionsOf, type SocketCounts } from './tcp-sockets.ts';
export { ATTEMPT_MS, HANG_MS, monotonicMs, sleep, unixMs, withDeadline } from './real-time.ts';
export { createTempDir, type TempDir } from './temp-dir.ts';

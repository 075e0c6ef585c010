// The command line of the managed etcd (coordinator §3.1, §3.6; security §1.5). The client port is
// on loopback only; the peer port uses the coordinator's own certificate, demands one of its peers,
// and pins a host name that only coordinators carry, because etcd knows nothing of our identities.

export interface PeerTls {
  readonly certFile: string;
  readonly keyFile: string;
  readonly caFile: string;
  /** A DNS name in the certificates of coordinators and of nobody else. */
  readonly allowedHost: string;
}

export interface EtcdCommand {
  readonly nodeId: string;
  /** `host:port` on loopback, by default `127.0.0.1:2379`. */
  readonly clientAddress: string;
  /** `host:port` to listen on. */
  readonly peerBind: string;
  /** `host:port` that the others dial: a stable name, not a resolved address. */
  readonly peerAdvertise: string;
  readonly peerTls?: PeerTls | undefined;
}

/** Where its data is, and whom it begins with; only a first start reads the latter. */
export interface EtcdBeginning {
  readonly etcdDir: string;
  readonly initialCluster: string;
  readonly initialState: 'new' | 'existing';
}

export function peerUrlOf(peerAdvertise: string, tls: PeerTls | undefined): string {
  return `${tls === undefined ? 'http' : 'https'}://${peerAdvertise}`;
}

export function etcdArguments(command: EtcdCommand, begin: EtcdBeginning): readonly string[] {
  const { peerTls } = command;
  const clientUrl = `http://${command.clientAddress}`;
  return [
    `--name=${command.nodeId}`,
    `--data-dir=${begin.etcdDir}`,
    `--listen-client-urls=${clientUrl}`,
    `--advertise-client-urls=${clientUrl}`,
    `--listen-peer-urls=${peerUrlOf(listenAddress(command.peerBind), peerTls)}`,
    `--initial-advertise-peer-urls=${peerUrlOf(command.peerAdvertise, peerTls)}`,
    `--initial-cluster=${begin.initialCluster}`,
    `--initial-cluster-state=${begin.initialState}`,
    '--auto-compaction-mode=periodic',
    '--auto-compaction-retention=1h',
    `--quota-backend-bytes=${2 * 1024 ** 3}`,
    '--strict-reconfig-check=true',
    '--logger=zap',
    '--log-level=warn',
    ...(peerTls === undefined ? [] : tlsArguments(peerTls)),
  ];
}

function tlsArguments({ certFile, keyFile, caFile, allowedHost }: PeerTls): readonly string[] {
  return [
    `--peer-cert-file=${certFile}`,
    `--peer-key-file=${keyFile}`,
    `--peer-trusted-ca-file=${caFile}`,
    '--peer-client-cert-auth=true',
    '--tls-min-version=TLS1.3',
    `--peer-cert-allowed-hostname=${allowedHost}`,
  ];
}

/** etcd wants an address where our flags allow `:7791`. */
function listenAddress(bind: string): string {
  return bind.startsWith(':') ? `0.0.0.0${bind}` : bind;
}

// A real etcd cluster (Debian's etcd-server) for the coordinator's tests: members start in
// parallel, keep their data directories and ports, and can be killed, restarted or paused one by
// one. Defaults are etcd's own (fsync on, 100 ms heartbeat, 1 s election), because a test against
// a softened store proves nothing about the real one. With `places`, each member runs in its own
// network namespace and can be partitioned.

import { join } from 'node:path';
import {
  type EtcdEndpoint,
  type EtcdStatus,
  etcdGet,
  etcdHealthy,
  etcdPut,
  etcdStatus,
} from './etcd-gateway.ts';
import { eventually } from './eventually.ts';
import type { HttpTls } from './http.ts';
import type { Place } from './netns.ts';
import { requireCommand } from './packages.ts';
import { leasePort, type PortLease } from './ports.ts';
import { type ProcessExit, type RunningProcess, startProcess } from './process.ts';
import { ATTEMPT_MS } from './real-time.ts';
import { createTempDir, type TempDir } from './temp-dir.ts';

const MAX_MEMBERS = 7;

/** PEM paths for the servers and PEM text for the test's own calls. */
export interface EtcdTls {
  readonly certFile: string;
  readonly keyFile: string;
  readonly caFile: string;
  readonly client: HttpTls;
}

export interface EtcdOptions {
  readonly memberCount?: number;
  /** Client and peer ports both require certificates signed by the CA. */
  readonly tls?: EtcdTls;
  /** One per member; 127.0.0.1 when absent. */
  readonly places?: readonly Place[];
  readonly heartbeatMs?: number;
  readonly electionMs?: number;
}

/** Resolves when every member is healthy. */
export async function startEtcd(options: EtcdOptions = {}): Promise<EtcdCluster> {
  requireCommand('etcd');
  const memberCount = options.memberCount ?? 3;
  if (!(memberCount >= 1 && memberCount <= MAX_MEMBERS)) {
    throw new Error(`1 to ${MAX_MEMBERS} etcd members, not ${memberCount}`);
  }
  const dir = createTempDir('etcd');
  const members: EtcdMember[] = [];
  for (let index = 0; index < memberCount; index += 1) {
    members.push(await EtcdMember.plan(index, dir.path, options));
  }
  const peers = members.map((member) => `${member.name}=${member.peerUrl}`).join(',');
  const cluster = new EtcdCluster(members, dir);
  try {
    await Promise.all(members.map((member) => member.start(peers)));
    await cluster.waitHealthy();
  } catch (error) {
    await cluster.stop();
    throw error;
  }
  return cluster;
}

export class EtcdCluster implements AsyncDisposable {
  readonly members: readonly EtcdMember[];
  readonly #dir: TempDir;

  constructor(members: readonly EtcdMember[], dir: TempDir) {
    this.members = members;
    this.#dir = dir;
  }

  /** Client URLs, in member order. */
  get endpoints(): readonly string[] {
    return this.members.map((member) => member.endpoint.url);
  }

  member(index: number): EtcdMember {
    const member = this.members[index];
    if (member === undefined) throw new Error(`no etcd member ${index}`);
    return member;
  }

  /** Waits until all members that run (neither killed nor paused) are healthy. */
  async waitHealthy(): Promise<void> {
    const running = this.members.filter((member) => member.running);
    await Promise.all(
      running.map((member) =>
        eventually(() => etcdHealthy(member.endpoint), {
          what: `${member.name} healthy`,
          details: () => member.outputText(),
          hopeless: () => (member.running ? undefined : 'it ended'),
        }),
      ),
    );
  }

  /** The member that the running members agree on as leader. */
  leader(): Promise<EtcdMember> {
    return eventually(
      async () => {
        const running = this.members.filter((member) => member.running);
        const statuses = await Promise.all(running.map((member) => member.status()));
        const leaderId = statuses[0]?.leaderId;
        if (statuses.some((status) => status.leaderId !== leaderId)) return undefined;
        return running[statuses.findIndex((status) => status.memberId === leaderId)];
      },
      { what: 'etcd leader' },
    );
  }

  /** Writes through any member that runs, retrying until a quorum takes it. */
  async put(key: string, value: string): Promise<bigint> {
    return this.#throughAny('put', (endpoint, attemptMs) =>
      etcdPut(endpoint, key, value, attemptMs),
    );
  }

  async get(key: string): Promise<string | undefined> {
    const read = await this.#throughAny('get', async (endpoint, attemptMs) => ({
      value: await etcdGet(endpoint, key, attemptMs),
    }));
    return read.value;
  }

  async stop(): Promise<void> {
    await Promise.all(this.members.map((member) => member.discard()));
    await this.#dir.remove();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #throughAny<T>(
    what: string,
    call: (endpoint: EtcdEndpoint, attemptMs: number) => Promise<T>,
  ): Promise<T> {
    // A member whose leader has just died holds a request for seconds, so the first attempts are
    // short; later ones grow, for a machine that is merely slow.
    let attempt = 0;
    return eventually(
      () => {
        const running = this.members.filter((member) => member.running);
        const member = running[attempt % running.length];
        attempt += 1;
        if (member === undefined) throw new Error('no etcd member runs');
        return call(member.endpoint, Math.min(200 * attempt, ATTEMPT_MS));
      },
      { what: `etcd ${what}` },
    );
  }
}

export class EtcdMember {
  readonly name: string;
  readonly peerUrl: string;
  readonly dataDir: string;
  readonly endpoint: EtcdEndpoint;
  readonly #options: EtcdOptions;
  readonly #place: Place | undefined;
  readonly #ports: readonly PortLease[];
  #peers = '';
  #process: RunningProcess | undefined;
  #paused = false;

  private constructor(index: number, dir: string, options: EtcdOptions, ports: PortLease[]) {
    const [client, peer] = ports;
    if (client === undefined || peer === undefined) throw new Error('two ports per etcd member');
    const scheme = options.tls === undefined ? 'http' : 'https';
    this.#place = options.places?.[index];
    const address = this.#place?.address ?? '127.0.0.1';
    this.name = `etcd-${index}`;
    this.dataDir = join(dir, this.name);
    this.peerUrl = `${scheme}://${address}:${peer.port}`;
    this.endpoint = { url: `${scheme}://${address}:${client.port}`, tls: options.tls?.client };
    this.#options = options;
    this.#ports = ports;
  }

  static async plan(index: number, dir: string, options: EtcdOptions): Promise<EtcdMember> {
    return new EtcdMember(index, dir, options, [await leasePort(), await leasePort()]);
  }

  /** Started, not killed, not paused. */
  get running(): boolean {
    return this.#process !== undefined && this.#process.exit === undefined && !this.#paused;
  }

  outputText(): string {
    return this.#process?.output.text() ?? '';
  }

  status(): Promise<EtcdStatus> {
    return etcdStatus(this.endpoint);
  }

  /** First start; `peers` is the initial cluster, kept for restarts. */
  async start(peers: string): Promise<void> {
    this.#peers = peers;
    const command = this.#place?.command(requireCommand('etcd'), this.#args()) ?? {
      command: requireCommand('etcd'),
      args: this.#args(),
    };
    this.#process = await startProcess({ name: this.name, ...command });
  }

  /** SIGKILL: what it had not fsynced is gone, its data directory stays. */
  async kill(): Promise<ProcessExit> {
    const exit = await this.#started().kill();
    this.#paused = false;
    return exit;
  }

  /** Starts it again on the same data and ports; does not wait for health. */
  async restart(): Promise<void> {
    await this.kill();
    await this.start(this.#peers);
  }

  async pause(): Promise<void> {
    await this.#started().pause();
    this.#paused = true;
  }

  async resume(): Promise<void> {
    await this.#started().resume();
    this.#paused = false;
  }

  /** For the end of the test: no grace, nothing to keep. */
  async discard(): Promise<void> {
    await this.#process?.kill();
    for (const lease of this.#ports) await lease.release();
  }

  #started(): RunningProcess {
    if (this.#process === undefined) throw new Error(`${this.name} was never started`);
    return this.#process;
  }

  #args(): readonly string[] {
    const { tls, heartbeatMs, electionMs } = this.#options;
    return [
      `--name=${this.name}`,
      `--data-dir=${this.dataDir}`,
      `--listen-client-urls=${this.endpoint.url}`,
      `--advertise-client-urls=${this.endpoint.url}`,
      `--listen-peer-urls=${this.peerUrl}`,
      `--initial-advertise-peer-urls=${this.peerUrl}`,
      `--initial-cluster=${this.#peers}`,
      '--initial-cluster-state=new',
      '--logger=zap',
      '--log-level=warn',
      ...(heartbeatMs === undefined ? [] : [`--heartbeat-interval=${heartbeatMs}`]),
      ...(electionMs === undefined ? [] : [`--election-timeout=${electionMs}`]),
      ...(tls === undefined ? [] : tlsArgs(tls)),
    ];
  }
}

function tlsArgs(tls: EtcdTls): readonly string[] {
  return ['', 'peer-'].flatMap((side) => [
    `--${side}cert-file=${tls.certFile}`,
    `--${side}key-file=${tls.keyFile}`,
    `--${side}trusted-ca-file=${tls.caFile}`,
    `--${side}client-cert-auth`,
  ]);
}

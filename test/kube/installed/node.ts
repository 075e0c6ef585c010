// A node that runs Pods: a stand-in kubelet over podman. Each Pod bound to it has a network namespace and an
// address of its own, its volumes, its confinement and its probes; the API server hears of it what it hears
// of a kubelet. Real are the control plane, the images, the processes in them and their network; stood in for
// are the kubelet itself, DNS (a hosts file) and cluster addresses (the Pods behind them).

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Outcome, ContainerHost } from '../images/container-host.ts';
import type { ControlPlane } from '../control-plane.ts';
import {
  etcdPut,
  eventually,
  type NetHost,
  type ProcessExit,
  type TestNetwork,
  unixMs,
} from '../../toolkit/index.ts';
import { Claims } from './claims.ts';
import { EXEC_FEATURE, ExecServer } from './exec-server.ts';
import { Names } from './names.ts';
import type { PodObject } from './pod.ts';
import { PodOnNode, type PodSurroundings } from './pod-on-node.ts';
import { rest } from './probe.ts';

export interface NodeOptions {
  readonly name: string;
  readonly plane: ControlPlane;
  readonly host: ContainerHost;
  /** Its hosts are the network namespaces that Pods get. */
  readonly network: TestNetwork;
  /** Where Pods reach the API server. */
  readonly apiServer: { readonly host: string; readonly port: number };
  readonly folder: string;
  readonly allocatable: Readonly<Record<string, string>>;
}

export interface EndedPod {
  readonly name: string;
  readonly image: string;
  readonly restartCount: number;
  readonly exits: readonly (ProcessExit | undefined)[];
}

const LOOK_MS = 200;
/** What fails that often in a row goes wrong; a single request may be lost. */
const FAILURES_IN_A_ROW = 5;
const HEARTBEAT_MS = 10_000;
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const NOT_FOUND = 404;
const TAIL_CHARS = 3_000;
const HOUR_MS = 3_600_000;

export class RunningNode implements AsyncDisposable {
  /** What went wrong outside of any Pod's own doing. */
  readonly problems: Set<string> = new Set();
  /** Pods that were told to go, in order. */
  readonly ended: EndedPod[] = [];
  readonly #options: NodeOptions;
  readonly #names: Names;
  readonly #claims: Claims;
  readonly #around: PodSurroundings;
  readonly #pods = new Map<string, PodOnNode>();
  readonly #leaving = new Map<string, Promise<void>>();
  /** The one that was free longest comes first: an address is not given again at once. */
  readonly #free: NetHost[];
  readonly #ender = new AbortController();
  #loops: Promise<unknown> = Promise.resolve();
  #execServer: ExecServer | undefined;

  private constructor(options: NodeOptions) {
    const { plane, host, network, folder, name, apiServer } = options;
    this.#options = options;
    this.#free = [...network.hosts];
    const etcFolder = path.join(folder, 'etc');
    const logFolder = path.join(folder, 'logs');
    for (const one of [etcFolder, logFolder]) mkdirSync(one, { recursive: true });
    // Names that no file knows do not exist; all addresses of a name count.
    writeFileSync(path.join(etcFolder, 'nsswitch.conf'), 'hosts: files\n');
    writeFileSync(path.join(etcFolder, 'host.conf'), 'multi on\n');
    this.#names = new Names(plane.admin, path.join(etcFolder, 'hosts'));
    this.#claims = new Claims(plane.admin, path.join(folder, 'volumes'), name);
    this.#around = {
      api: plane.admin,
      host,
      names: this.#names,
      folder,
      etcFolder,
      logFolder,
      nodeAddress: network.testAddress,
      serviceEnvironment: new Map([
        ['KUBERNETES_SERVICE_HOST', apiServer.host],
        ['KUBERNETES_SERVICE_PORT', String(apiServer.port)],
      ]),
      onProblem: (problem) => this.problems.add(problem),
    };
  }

  static async start(options: NodeOptions): Promise<RunningNode> {
    const node = new RunningNode(options);
    await node.#claims.install();
    node.#execServer = await ExecServer.start(options.network.testAddress, ({ pod, command }) =>
      node.#exec(pod, command),
    );
    await node.#register();
    node.#loops = Promise.all([
      node.#repeat(LOOK_MS, () => node.#claims.refresh()),
      node.#repeat(LOOK_MS, () => node.#names.refresh()),
      node.#repeat(LOOK_MS, () => node.#look()),
      node.#repeat(HEARTBEAT_MS, () => node.#renew()),
    ]);
    return node;
  }

  get pods(): readonly PodOnNode[] {
    return [...this.#pods.values()];
  }

  /** That runs and is not told to go. */
  pod(name: string): PodOnNode | undefined {
    return this.pods.find((one) => one.name === name);
  }

  /** Until Pods know the name. */
  async resolves(name: string): Promise<void> {
    await eventually(() => readFileSync(this.#names.file, 'utf8').split(/\s/).includes(name), {
      what: `${name} is known`,
    });
  }

  /** For a failure: what went wrong, the names that Pods know, the last lines of every Pod there was. */
  tails(): string {
    const logs = readdirSync(this.#around.logFolder).map((file) => {
      const text = readFileSync(path.join(this.#around.logFolder, file), 'utf8');
      return `── ${file} ──\n${text.slice(-TAIL_CHARS)}`;
    });
    const pods = this.pods.map((one) => `${one.name} ${one.address} ${one.describe()}`);
    const names = readFileSync(this.#names.file, 'utf8').trim();
    return [...this.problems, ...pods, names, ...logs].join('\n');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ender.abort();
    await this.#loops;
    for (const uid of this.#pods.keys()) this.#end(uid);
    await Promise.all(this.#leaving.values());
    await this.#execServer?.[Symbol.asyncDispose]();
  }

  async #exec(pod: string, command: readonly string[]): Promise<Outcome> {
    const [container] = this.pod(pod)?.containers ?? [];
    if (container === undefined) throw new Error(`${pod} does not run here`);
    return container.container.exec(...command);
  }

  async #repeat(everyMs: number, work: () => Promise<void>): Promise<void> {
    const { signal } = this.#ender;
    let failureCount = 0;
    while (!signal.aborted) {
      try {
        await work();
        failureCount = 0;
      } catch (error) {
        failureCount += 1;
        if (failureCount >= FAILURES_IN_A_ROW) this.problems.add(String(error));
      }
      await rest(everyMs, signal);
    }
  }

  async #look(): Promise<void> {
    const { admin } = this.#options.plane;
    const path = `/api/v1/pods?fieldSelector=spec.nodeName=${this.#options.name}`;
    const { items } = (await admin.must(admin.get(path))) as unknown as {
      readonly items: readonly PodObject[];
    };
    const there = new Set(items.map(({ metadata }) => metadata.uid));
    for (const object of items) {
      const { uid, deletionTimestamp } = object.metadata;
      if (deletionTimestamp !== undefined) this.#end(uid);
      else if (!this.#pods.has(uid) && !this.#leaving.has(uid)) this.#begin(object);
    }
    for (const uid of this.#pods.keys()) if (!there.has(uid)) this.#end(uid);
  }

  #begin(object: PodObject): void {
    const netHost = this.#free.shift();
    if (netHost === undefined) throw new Error('every address of this node is taken');
    this.#pods.set(object.metadata.uid, new PodOnNode(object, netHost, this.#around));
  }

  #end(uid: string): void {
    const pod = this.#pods.get(uid);
    if (pod === undefined) return;
    this.#pods.delete(uid);
    const ending = pod
      .end()
      .catch((error: unknown) => this.problems.add(`${pod.name}: ${String(error)}`))
      .then(() => {
        const { name, restartCount, exits, object } = pod;
        this.ended.push({
          name,
          restartCount,
          exits,
          image: object.spec.containers[0]?.image ?? '',
        });
        this.#free.push(pod.netHost);
        this.#leaving.delete(uid);
      });
    this.#leaving.set(uid, ending);
  }

  async #register(): Promise<void> {
    const { plane, name, allocatable, network } = this.#options;
    const { admin } = plane;
    const labels = {
      'kubernetes.io/hostname': name,
      'kubernetes.io/os': 'linux',
      'kubernetes.io/arch': 'amd64',
    };
    const created = await admin.must(admin.create('/api/v1/nodes', { metadata: { name, labels } }));
    await this.#makeOld(created);
    await this.#renew();
    const heartbeat = new Date(unixMs()).toISOString().replace(/\.\d+Z$/, 'Z');
    const times = { lastHeartbeatTime: heartbeat, lastTransitionTime: heartbeat };
    const conditions = [{ type: 'Ready', status: 'True', reason: 'KubeletReady', ...times }];
    await admin.must(
      admin.merge(`/api/v1/nodes/${name}/status`, {
        status: {
          capacity: allocatable,
          allocatable,
          conditions,
          // No host name: the API server would rather dial that, and nobody resolves it.
          addresses: [{ type: 'InternalIP', address: network.testAddress }],
          daemonEndpoints: { kubeletEndpoint: { Port: this.#execServer?.port } },
          declaredFeatures: [EXEC_FEATURE],
          nodeInfo: { kubeletVersion: 'v0.0.0-stand-in', operatingSystem: 'linux' },
        },
      }),
    );
  }

  /**
   * The node of a cluster that was there before BigFleet. Pods of a node that is minutes old count as demand
   * (kubernetes §5.2); its age is the server's own word, so it is changed where the server keeps it.
   */
  async #makeOld(node: Readonly<Record<string, unknown>>): Promise<void> {
    const { plane, name } = this.#options;
    const creationTimestamp = new Date(unixMs() - HOUR_MS).toISOString().replace(/\.\d+Z$/, 'Z');
    const metadata = { ...(node['metadata'] as object), creationTimestamp };
    const text = JSON.stringify({ ...node, metadata });
    await etcdPut(plane.etcd.member(0).endpoint, `/registry/minions/${name}`, text);
  }

  async #renew(): Promise<void> {
    const { plane, name } = this.#options;
    const { admin } = plane;
    const renewTime = new Date(unixMs()).toISOString().replace('Z', '000Z');
    const { status } = await admin.merge(`${LEASES}/${name}`, { spec: { renewTime } });
    if (status !== NOT_FOUND) return;
    const spec = { holderIdentity: name, leaseDurationSeconds: 40, renewTime };
    await admin.must(admin.create(LEASES, { metadata: { name }, spec }));
  }
}

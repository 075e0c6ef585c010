// A cluster that BigFleet is installed in as its owner does it: with helm, from the charts, onto a node that
// runs its Pods. The fleet is the one of the other end-to-end tests, at an address that Pods reach.

import {
  createTempDir,
  createNetwork,
  netnsSupport,
  startFaultProxy,
} from '../../toolkit/index.ts';
import { Shell } from '../charts/guide.ts';
import { type ControlPlane, startControlPlane } from '../control-plane.ts';
import { type Build, ContainerHost } from '../images/container-host.ts';
import { type RunningKubelets, startKubelets } from '../world/kubelets.ts';
import { type MachineOffer, Machines } from '../world/machines.ts';
import { RunningNode } from './node.ts';

export interface InstallationOptions {
  readonly builds: readonly Build[];
  readonly offers: readonly MachineOffer[];
}

export type Begun =
  | { readonly ok: true; readonly cluster: Installation }
  | { readonly ok: false; readonly reason: string };

const PROVIDER_PORT = 9_000;
/** Pods at once, and those that are on their way out beside their successors. */
const POD_COUNT = 24;
const NODE_NAME = 'management-0';
/** Enough for BigFleet's own Pods, too little for any that stands for an owner's workload. */
const ALLOCATABLE = { cpu: '2', memory: '16Gi', 'ephemeral-storage': '100Gi', pods: '110' };

interface Parts {
  readonly plane: ControlPlane;
  readonly node: RunningNode;
  readonly kubelets: RunningKubelets;
  readonly machines: Machines;
  readonly shell: Shell;
  readonly providerAddress: string;
}

export class Installation implements AsyncDisposable {
  readonly plane: ControlPlane;
  readonly node: RunningNode;
  readonly kubelets: RunningKubelets;
  readonly machines: Machines;
  readonly shell: Shell;
  readonly #providerAddress: string;
  readonly #owned: AsyncDisposableStack;

  private constructor(parts: Parts, owned: AsyncDisposableStack) {
    this.plane = parts.plane;
    this.node = parts.node;
    this.kubelets = parts.kubelets;
    this.machines = parts.machines;
    this.shell = parts.shell;
    this.#providerAddress = parts.providerAddress;
    this.#owned = owned;
  }

  /** Nothing of BigFleet is in the cluster yet; its images are on the node. */
  static async begin({ builds, offers }: InstallationOptions): Promise<Begun> {
    const support = await netnsSupport();
    if (!support.ok) return support;
    await using stack = new AsyncDisposableStack();
    const opened = await ContainerHost.open(builds);
    if (!opened.ok) return opened;
    const host = stack.use(opened.host);
    if (host.cannotStart !== undefined) return { ok: false, reason: host.cannotStart };
    const slots = Array.from({ length: POD_COUNT }, (_, at) => [`pod-${at}`, ['pods']] as const);
    const network = stack.use(await createNetwork({ hosts: Object.fromEntries(slots) }));
    const { testAddress } = network;
    const { path: folder } = stack.use(createTempDir('installed'));
    const plane = stack.use(
      await startControlPlane({ hasDefinitions: false, proxyAddresses: [testAddress] }),
    );
    const proxy = stack.use(
      await startFaultProxy({ listenHost: testAddress, targetPort: plane.apiserver.port }),
    );
    const kubelets = stack.use(await startKubelets(plane));
    const machines = stack.use(
      await Machines.start({
        listen: `${testAddress}:${PROVIDER_PORT}`,
        kubelets: kubelets.kubelets,
        offers,
        // The guide's own steps bring no template: a machine is known by its host alone.
        providerIdOf: (ref) => ref,
      }),
    );
    const node = stack.use(
      await RunningNode.start({
        name: NODE_NAME,
        plane,
        host,
        network,
        apiServer: { host: testAddress, port: proxy.port },
        folder,
        allocatable: ALLOCATABLE,
      }),
    );
    const shell = new Shell(folder, plane.adminKubeconfig);
    const parts = { plane, node, kubelets, machines, shell, providerAddress: testAddress };
    return { ok: true, cluster: new Installation(parts, stack.move()) };
  }

  /** A provider that runs elsewhere, under the name of a Service. */
  async installProvider(name: string, namespace: string): Promise<void> {
    const { admin } = this.plane;
    const ports = [{ name: 'grpc', port: PROVIDER_PORT }];
    const services = `/api/v1/namespaces/${namespace}/services`;
    await admin.must(admin.create(services, { metadata: { name }, spec: { ports } }));
    const slices = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`;
    await admin.must(
      admin.create(slices, {
        metadata: { name: `${name}-1`, labels: { 'kubernetes.io/service-name': name } },
        addressType: 'IPv4',
        ports,
        endpoints: [{ addresses: [this.#providerAddress] }],
      }),
    );
    await this.node.resolves(`${name}.${namespace}.svc`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned.disposeAsync();
  }
}

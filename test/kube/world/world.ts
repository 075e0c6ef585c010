// A whole installation on a real Kubernetes control plane (kubernetes §7.1): the shard, the operator and the pod
// controller as processes of their own, the latter two with a ServiceAccount that has the chart's rights and
// nothing else; an asynchronous fleet whose machines join as Nodes from the blobs that the operator renders.
// A test file starts one world and gives each test a namespace of its own.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { JOIN_TEMPLATE } from '@bigfleet/kube/testing';
import {
  CertificateAuthority,
  createPemDir,
  createTempDir,
  type FaultProxy,
  leasePort,
  startFaultProxy,
} from '../../toolkit/index.ts';
import type { Json } from '../api.ts';
import {
  type ControlPlane,
  type ControlPlaneOptions,
  startControlPlane,
} from '../control-plane.ts';
import { type RunningKubelets, startKubelets } from './kubelets.ts';
import { type MachineOffer, Machines } from './machines.ts';
import { installRights, SYSTEM_NAMESPACE } from './rights.ts';
import { Service } from './service.ts';

export interface WorldOptions {
  readonly clusterId?: string;
  readonly offers?: readonly MachineOffer[];
  readonly nodeNameOf?: (machineId: string) => string;
  /** Of the operator's blobs. */
  readonly template?: string;
  /** Mutual TLS between operator and shard. */
  readonly hasTls?: boolean;
  /** Of the charts, beside what they require: `bootstrapToken.enabled` needs its right. */
  readonly operatorValues?: Json;
  readonly podControllerValues?: Json;
  /** Added to the arguments of the process. */
  readonly shardArgs?: readonly string[];
  readonly operatorArgs?: readonly string[];
  readonly podControllerArgs?: readonly string[];
  /** Of the process, as its chart's container has it. */
  readonly operatorEnv?: Readonly<Record<string, string>>;
  readonly podControllerEnv?: Readonly<Record<string, string>>;
  readonly controlPlane?: ControlPlaneOptions;
  /** BigFleet's processes are left for the test to start. */
  readonly isIdle?: boolean;
}

const OFFERS: readonly MachineOffer[] = [
  { instanceType: 'std-4', zone: 'a', count: 8 },
  { instanceType: 'std-4', zone: 'b', count: 8 },
];

const CLI = join(import.meta.dirname, '../../../packages/cli/src');
const TAIL_CHARS = 6_000;

/** Resolves when everything runs; nothing is asked for yet. `await using` it. */
export async function startWorld(options: WorldOptions = {}): Promise<World> {
  const { clusterId = 'kube-test', offers = OFFERS } = options;
  await using stack = new AsyncDisposableStack();
  const { path: folder } = stack.use(createTempDir('kube-world'));
  const plane = stack.use(await startControlPlane(options.controlPlane));
  const kubelets = stack.use(await startKubelets(plane));
  const machines = stack.use(
    await Machines.start({
      listen: `unix:${join(folder, 'provider.sock')}`,
      kubelets: kubelets.kubelets,
      offers,
      nodeNameOf: options.nodeNameOf,
    }),
  );
  const proxies = {
    operator: stack.use(await startFaultProxy({ targetPort: plane.apiserver.port })),
    podController: stack.use(await startFaultProxy({ targetPort: plane.apiserver.port })),
  };
  const port = stack.use(await leasePort());
  const shardAddress = `127.0.0.1:${port.port}`;
  const tls =
    options.hasTls === true ? await tlsFlags(stack, clusterId) : { shard: [], operator: [] };
  const templateFile = join(folder, 'bootstrap.tmpl');
  writeFileSync(templateFile, options.template ?? JOIN_TEMPLATE);

  await plane.namespace(SYSTEM_NAMESPACE);
  const kubeconfigOf = async (chart: string, values: Json, proxy: FaultProxy): Promise<string> => {
    const name = await installRights(plane.admin, chart, values);
    const server = `https://127.0.0.1:${proxy.port}`;
    return plane.serviceAccountKubeconfig({ namespace: SYSTEM_NAMESPACE, name }, server);
  };
  const operatorKubeconfig = await kubeconfigOf(
    'bigfleet-operator',
    { clusterID: clusterId, shardAddress, crds: { install: false }, ...options.operatorValues },
    proxies.operator,
  );
  const podControllerKubeconfig = await kubeconfigOf(
    'bigfleet-unschedulable-pod-controller',
    { ...options.podControllerValues },
    proxies.podController,
  );
  const service = (
    name: string,
    main: string,
    args: readonly string[],
    env?: Readonly<Record<string, string>>,
  ): Service =>
    stack.use(
      new Service({
        name,
        main: join(CLI, main),
        args: [...args, '--metrics-addr=127.0.0.1:0'],
        env,
        logFile: join(folder, `${name}.log`),
      }),
    );
  const shard = service('shard', 'main.ts', [
    'shard',
    `--listen=${shardAddress}`,
    `--data-dir=${join(folder, 'shard')}`,
    `--provider=test=${machines.address}`,
    // A fleet of a few machines: five per cent of it is less than one.
    '--reclaim-cap-fraction=0',
    ...tls.shard,
    ...(options.shardArgs ?? []),
  ]);
  const operatorArgs = [
    `--cluster-id=${clusterId}`,
    `--shard-addr=${shardAddress}`,
    `--kubeconfig=${operatorKubeconfig}`,
    `--bootstrap-template-file=${templateFile}`,
    '--rollup-interval=1s',
    ...tls.operator,
    ...(options.operatorArgs ?? []),
  ];
  const operator = service('operator', 'operator-main.ts', operatorArgs, options.operatorEnv);
  const podControllerArgs = [
    `--kubeconfig=${podControllerKubeconfig}`,
    ...(options.podControllerArgs ?? []),
  ];
  const podController = service(
    'pod-controller',
    'pod-controller-main.ts',
    podControllerArgs,
    options.podControllerEnv,
  );
  if (options.isIdle !== true) {
    await Promise.all([shard.start(), operator.start(), podController.start()]);
  }
  return new World(
    {
      clusterId,
      shardAddress,
      folder,
      plane,
      kubelets,
      machines,
      proxies,
      shard,
      operator,
      podController,
    },
    stack.move(),
  );
}

async function tlsFlags(
  stack: AsyncDisposableStack,
  clusterId: string,
): Promise<{ readonly shard: readonly string[]; readonly operator: readonly string[] }> {
  const authority = await CertificateAuthority.root();
  const flags = async (uri: string, commonName: string): Promise<readonly string[]> => {
    const leaf = await authority.leaf({ uris: [uri], commonName, ips: ['127.0.0.1'] });
    const files = stack.use(await createPemDir(leaf));
    const { certFile, keyFile, caFile } = files;
    return [`--tls-cert=${certFile}`, `--tls-key=${keyFile}`, `--tls-ca=${caFile}`];
  };
  return {
    shard: [...(await flags('bigfleet://shard/shard-0', 'shard-0')), '--require-session-cn'],
    operator: await flags(`bigfleet://cluster/${clusterId}`, clusterId),
  };
}

interface Parts {
  readonly clusterId: string;
  readonly shardAddress: string;
  readonly folder: string;
  readonly plane: ControlPlane;
  readonly kubelets: RunningKubelets;
  readonly machines: Machines;
  readonly proxies: { readonly operator: FaultProxy; readonly podController: FaultProxy };
  readonly shard: Service;
  readonly operator: Service;
  readonly podController: Service;
}

export class World implements AsyncDisposable {
  readonly clusterId: string;
  readonly shardAddress: string;
  readonly folder: string;
  readonly plane: ControlPlane;
  readonly kubelets: RunningKubelets;
  readonly machines: Machines;
  /** Between the API server and the process of that name. */
  readonly proxies: Parts['proxies'];
  readonly shard: Service;
  readonly operator: Service;
  readonly podController: Service;
  readonly #owned: AsyncDisposableStack;

  constructor(parts: Parts, owned: AsyncDisposableStack) {
    this.clusterId = parts.clusterId;
    this.shardAddress = parts.shardAddress;
    this.folder = parts.folder;
    this.plane = parts.plane;
    this.kubelets = parts.kubelets;
    this.machines = parts.machines;
    this.proxies = parts.proxies;
    this.shard = parts.shard;
    this.operator = parts.operator;
    this.podController = parts.podController;
    this.#owned = owned;
  }

  /** The last lines of BigFleet's processes. */
  tails(): string {
    return [this.shard, this.operator, this.podController]
      .map((one) => `── ${one.name} ──\n${one.tail().slice(-TAIL_CHARS)}`)
      .join('\n');
  }

  /** Prints the tails when the test fails. */
  explainFailures(test: TestContext): void {
    this.plane.explainFailures(test, () => this.tails());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned.disposeAsync();
  }
}

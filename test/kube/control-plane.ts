// A real Kubernetes control plane on loopback (kubernetes §7.1): etcd, kube-apiserver, kube-controller-manager
// and kube-scheduler as processes, with an authority of its own and RBAC on. No kubelet: `Kubelets` of
// `@bigfleet/kube/testing` stands in for those.
//
// BigFleet's definitions are there before the controller manager starts, because its garbage collector looks
// for new kinds only twice a minute.

import { execFile, type ExecFileException } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { parseYaml } from '@bigfleet/process';
import { startEtcd, type StartEtcdOptions } from '../etcd/binaries.ts';
import { gateway } from '../etcd/gateway.ts';
import {
  createTempDir,
  type EtcdCluster,
  eventually,
  HANG_MS,
  leasePort,
} from '../toolkit/index.ts';
import { Api, type Json } from './api.ts';
import { assetsEtcd, kubePrograms } from './binaries.ts';
import { Component } from './component.ts';
import { Credentials, type KubeUser } from './credentials.ts';

export interface ControlPlaneOptions {
  /** BigFleet's three definitions are installed. On unless told. */
  readonly hasDefinitions?: boolean;
  /** After how long without a heartbeat a node counts as lost; the server's default when absent. */
  readonly nodeGraceSeconds?: number;
  readonly apiserverArgs?: readonly string[];
  /** Addresses besides loopback under which somebody reaches the server through a proxy. */
  readonly proxyAddresses?: readonly string[];
  /** Writes per second of the scheduler and of each controller; their own defaults are for small clusters. */
  readonly qps?: number;
}

const ADMINISTRATOR: KubeUser = { name: 'administrator', groups: ['system:masters'] };
/** Besides the ones that are on by default: join tokens need them. */
const CONTROLLERS = '*,bootstrap-signer-controller,token-cleaner-controller';
const DEFINITIONS = new URL('../../api/crd/', import.meta.url);
const DEFINITIONS_PATH = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const TAIL_CHARS = 4_000;
const MAX_OUTPUT_BYTES = 64 << 20;

/** Resolves when all of it is ready. `await using` it. */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const programs = kubePrograms('controlPlane');
  await using stack = new AsyncDisposableStack();
  const { path: folder } = stack.use(createTempDir('kube'));
  const etcd = stack.use(await startEtcd(1, etcdOptions()));
  const port = await leasePort();
  const server = `https://127.0.0.1:${port.port}`;
  const credentials = await Credentials.create(folder, server);
  const { certPem, keyPem } = await credentials.user(ADMINISTRATOR);
  const tls = { ca: credentials.caPem, cert: certPem, key: keyPem };
  const files = await credentials.serverFiles(options.proxyAddresses);
  const signing = await credentials.signingFiles();
  const serving = [`--tls-cert-file=${files.cert}`, `--tls-private-key-file=${files.key}`];

  const apiserver = new Component(
    {
      name: 'kube-apiserver',
      command: programs['kube-apiserver'],
      folder,
      tls,
      readyPath: '/readyz',
      args: [
        `--etcd-servers=${etcd.endpoints.join(',')}`,
        '--bind-address=127.0.0.1',
        '--advertise-address=127.0.0.1',
        `--secure-port=${port.port}`,
        // Loopback is no address that the kubernetes Service may lead to.
        '--endpoint-reconciler-type=none',
        '--service-cluster-ip-range=10.0.0.0/24',
        ...serving,
        `--client-ca-file=${files.ca}`,
        '--authorization-mode=RBAC',
        '--enable-bootstrap-token-auth',
        '--service-account-issuer=https://kubernetes.default.svc',
        `--service-account-key-file=${signing.cert}`,
        `--service-account-signing-key-file=${signing.key}`,
        ...(options.apiserverArgs ?? []),
      ],
    },
    port,
  );
  stack.use(apiserver);
  const client = async (name: string): Promise<Component> => {
    const lease = await leasePort();
    const kubeconfig = credentials.kubeconfig(await credentials.user({ name: `system:${name}` }));
    const args = [
      '--bind-address=127.0.0.1',
      `--secure-port=${lease.port}`,
      ...serving,
      `--kubeconfig=${kubeconfig}`,
      '--leader-elect=false',
      ...(options.qps === undefined
        ? []
        : [`--kube-api-qps=${options.qps}`, `--kube-api-burst=${options.qps}`]),
      ...(name === 'kube-scheduler'
        ? []
        : managerArgs(options, { ca: files.ca, signingKey: signing.key })),
    ];
    const command = programs[name as 'kube-scheduler' | 'kube-controller-manager'];
    const spec = { name, command, folder, tls, args, readyPath: '/healthz' };
    return stack.use(new Component(spec, lease));
  };
  const controllerManager = await client('kube-controller-manager');
  const scheduler = await client('kube-scheduler');
  const admin = stack.use(new Api({ url: server, caPem: tls.ca, certPem, keyPem }));
  const plane = new ControlPlane({
    etcd,
    credentials,
    admin,
    adminKubeconfig: credentials.kubeconfig({ certPem, keyPem }),
    apiserver,
    controllerManager,
    scheduler,
    folder,
    kubectl: programs.kubectl,
  });
  await apiserver.start();
  if (options.hasDefinitions !== false) await installDefinitions(admin);
  await Promise.all([controllerManager.start(), scheduler.start()]);
  plane.own(stack.move());
  return plane;
}

function etcdOptions(): StartEtcdOptions {
  const command = assetsEtcd();
  if (command === undefined) return {};
  return { places: [{ address: '127.0.0.1', command: (_path, args) => ({ command, args }) }] };
}

function managerArgs(
  { nodeGraceSeconds }: ControlPlaneOptions,
  files: { readonly ca: string; readonly signingKey: string },
): readonly string[] {
  return [
    `--controllers=${CONTROLLERS}`,
    // The controllers' own roles are bound to their ServiceAccounts.
    '--use-service-account-credentials=true',
    `--service-account-private-key-file=${files.signingKey}`,
    `--root-ca-file=${files.ca}`,
    ...(nodeGraceSeconds === undefined ? [] : [`--node-monitor-grace-period=${nodeGraceSeconds}s`]),
  ];
}

/** BigFleet's definitions, created and served. */
export async function installDefinitions(api: Api): Promise<void> {
  const names: string[] = [];
  for (const file of readdirSync(DEFINITIONS)) {
    if (!file.endsWith('.yaml')) continue;
    const parsed = parseYaml(readFileSync(new URL(file, DEFINITIONS), 'utf8'));
    if (!parsed.ok) throw new Error(`${file}: ${parsed.error}`);
    const created = await api.must(api.create(DEFINITIONS_PATH, parsed.value));
    names.push(String((created['metadata'] as Json)['name']));
  }
  for (const name of names) {
    await eventually(
      async () => isEstablished((await api.get(`${DEFINITIONS_PATH}/${name}`)).object),
      { what: `${name} established` },
    );
  }
}

function isEstablished({ status }: Json): boolean {
  const conditions = (status as { conditions?: { type: string; status: string }[] } | undefined)
    ?.conditions;
  return (conditions ?? []).some((one) => one.type === 'Established' && one.status === 'True');
}

interface Parts {
  readonly etcd: EtcdCluster;
  readonly credentials: Credentials;
  readonly admin: Api;
  readonly adminKubeconfig: string;
  readonly apiserver: Component;
  readonly controllerManager: Component;
  readonly scheduler: Component;
  readonly folder: string;
  readonly kubectl: string;
}

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  /** What it said on both streams. */
  readonly output: string;
}

export class ControlPlane implements AsyncDisposable {
  /** Requests with all rights. */
  readonly admin: Api;
  readonly adminKubeconfig: string;
  readonly etcd: EtcdCluster;
  readonly apiserver: Component;
  readonly controllerManager: Component;
  readonly scheduler: Component;
  /** Logs and credentials; gone with the control plane. */
  readonly folder: string;
  readonly #parts: Parts;
  #owned: AsyncDisposableStack | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.admin = parts.admin;
    this.adminKubeconfig = parts.adminKubeconfig;
    this.etcd = parts.etcd;
    this.apiserver = parts.apiserver;
    this.controllerManager = parts.controllerManager;
    this.scheduler = parts.scheduler;
    this.folder = parts.folder;
  }

  /** What ends with it. */
  own(stack: AsyncDisposableStack): void {
    this.#owned = stack;
  }

  get url(): string {
    return this.apiserver.url;
  }

  get caPem(): string {
    return this.#parts.credentials.caPem;
  }

  /** Path of a kubeconfig with a client certificate; `server` may be a proxy on 127.0.0.1. */
  async kubeconfigOf(user: KubeUser, server?: string): Promise<string> {
    const { credentials } = this.#parts;
    return credentials.kubeconfig(await credentials.user(user), server);
  }

  async apiOf(user: KubeUser): Promise<Api> {
    const { certPem, keyPem } = await this.#parts.credentials.user(user);
    return new Api({ url: this.url, caPem: this.caPem, certPem, keyPem });
  }

  /** A token as the kubelet would mount it into a Pod of that account. */
  async serviceAccountToken(namespace: string, name: string): Promise<string> {
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
    const { status } = await this.admin.must(this.admin.create(path, body));
    return String((status as Json)['token']);
  }

  /** Path of a kubeconfig that reads its token from a file, as a Pod does. */
  async serviceAccountKubeconfig(
    { namespace, name }: { readonly namespace: string; readonly name: string },
    server?: string,
  ): Promise<string> {
    const { credentials } = this.#parts;
    const token = await this.serviceAccountToken(namespace, name);
    const tokenFile = credentials.file(`token-${namespace}-${name}`, token);
    return credentials.kubeconfig({ tokenFile }, server);
  }

  /** A namespace of its own, with its default ServiceAccount, so that Pods can be created in it. */
  async namespace(name: string): Promise<string> {
    await this.admin.must(this.admin.create('/api/v1/namespaces', { metadata: { name } }));
    const account = `/api/v1/namespaces/${name}/serviceaccounts/default`;
    await eventually(async () => (await this.admin.get(account)).status === 200, {
      what: `the default ServiceAccount of ${name}`,
      details: () => this.tails(),
    });
    return name;
  }

  /** The real kubectl, as the administrator unless a kubeconfig is given. */
  kubectl(
    args: readonly string[],
    options: { kubeconfig?: string; input?: string } = {},
  ): Promise<Ran> {
    const { kubeconfig = this.adminKubeconfig, input } = options;
    const env = { ...process.env, KUBECONFIG: kubeconfig, HOME: this.folder };
    return new Promise((resolve) => {
      const done = (error: ExecFileException | null, out: string, problem: string): void => {
        const code = typeof error?.code === 'number' ? error.code : error === null ? 0 : 1;
        resolve({ code, stdout: out, output: out + problem });
      };
      const options = { env, timeout: HANG_MS, maxBuffer: MAX_OUTPUT_BYTES };
      const { stdin } = execFile(this.#parts.kubectl, [...args], options, done);
      // A kubectl that ends before it has read its input breaks the pipe; its exit code says how it went.
      stdin?.on('error', () => undefined).end(input ?? '');
    });
  }

  /** The API server dies and comes back: every connection breaks and its watch caches are empty. */
  async restartApiserver(): Promise<void> {
    await this.apiserver.restart();
  }

  /** etcd forgets everything before now: older resource versions and continued lists answer 410. */
  async compact(): Promise<void> {
    const { endpoint } = this.etcd.member(0);
    const { header } = await gateway(endpoint, 'kv/range', {
      key: Buffer.from('/').toString('base64'),
    });
    const revision = String((header as Json)['revision']);
    await gateway(endpoint, 'kv/compaction', { revision, physical: true });
  }

  /** The last lines of every process. */
  tails(): string {
    return [this.apiserver, this.controllerManager, this.scheduler]
      .map((one) => `── ${one.name} ──\n${one.tail().slice(-TAIL_CHARS)}`)
      .join('\n');
  }

  /** Prints the tails, and what `more` says, when the test fails. */
  explainFailures(test: TestContext, more: () => string = () => ''): void {
    // The types of Node do not know `passed` yet.
    const result = test as TestContext & { readonly passed: boolean };
    test.after(() => {
      if (!result.passed) console.error(`${this.tails()}\n${more()}`);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned?.disposeAsync();
  }
}

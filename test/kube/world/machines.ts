// The fleet of a world: the real provider kit over machines in memory that take their time. A machine that is
// configured hands its blob to the stand-in kubelet, and is Configured only when its Node is Ready; drained,
// its kubelet stops; deleted, its Node is gone. Every transition is asynchronous, and a test can hold it.

import { createLogger, createRegistry, stderrSink } from '@bigfleet/telemetry';
import { type Runtime, sleep } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';
import type { JoinResult, Kubelets, MachineShape } from '@bigfleet/kube/testing';
import { type Backend, createProvider, type Instance, MemoryStore } from '@bigfleet/providerkit';
import { CapacityProvider, createGrpcServer, openGate, Router } from '@bigfleet/wire';

export interface MachineOffer {
  readonly instanceType: string;
  readonly zone: string;
  readonly count: number;
  readonly capacityType?: Instance['capacityType'];
  readonly pricePerHour?: number;
  readonly resources?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
}

export interface MachinesOptions {
  /** `unix:` socket or host and port. */
  readonly listen: string;
  readonly kubelets: Kubelets;
  readonly offers: readonly MachineOffer[];
  readonly nodeNameOf?: ((machineId: string) => string) | undefined;
  /** Of the Node; the host's own name at the provider is where a shard tells of it. */
  readonly providerIdOf?: ((hostRef: string) => string) | undefined;
}

export type Transition = 'create' | 'configure' | 'drain' | 'delete';

/** Long enough that every state in between is seen. */
const WORK_MS = 100;
const RESOURCES = { cpu: '4', memory: '16Gi' };

export class Machines implements AsyncDisposable {
  readonly address: string;
  /** Every transition that a machine went through, in order: `configure std/a/0`. */
  readonly acts: readonly string[];
  readonly #park: Park;
  readonly #owned: AsyncDisposableStack;

  private constructor(address: string, park: Park, owned: AsyncDisposableStack) {
    this.address = address;
    this.acts = park.acts;
    this.#park = park;
    this.#owned = owned;
  }

  static async start(options: MachinesOptions): Promise<Machines> {
    await using stack = new AsyncDisposableStack();
    const runtime = realRuntime();
    const { clock, timers } = runtime;
    const sink = stderrSink({ timers, registry: createRegistry() });
    const logger = createLogger({ clock, sink, level: 'error' });
    const park = new Park(runtime, options);
    const provider = await createProvider({
      backend: park,
      store: new MemoryStore(),
      runtime,
      options: { reconcileIntervalMs: 0, timeouts: { drain: 900_000 } },
      logger,
    });
    stack.defer(async () => {
      await provider.shutdown(0);
    });
    const router = new Router({ gate: openGate });
    router.add(CapacityProvider, provider.handlers);
    const server = createGrpcServer({
      runtime,
      router,
      listen: [options.listen],
      keepalive: 'provider',
    });
    const [address = ''] = await server.bind();
    stack.defer(() => server.stop());
    return new Machines(address, park, stack.move());
  }

  /** Transitions of this kind wait until the returned function is called. */
  hold(kind: Transition): () => void {
    return this.#park.hold(kind);
  }

  /** The next transitions of this kind fail with this text, until the returned function is called. */
  fail(kind: Transition, problem: string): () => void {
    return this.#park.fail(kind, problem);
  }

  nodeNameOf(machineId: string): string {
    return this.#park.nodeNameOf(machineId);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned.disposeAsync();
  }
}

class Park implements Backend {
  readonly acts: string[] = [];
  readonly #runtime: Runtime;
  readonly #options: MachinesOptions;
  readonly #hosts = new Map<string, string>();
  readonly #joins = new Map<string, Promise<JoinResult>>();
  readonly #held = new Map<Transition, Promise<void>>();
  readonly #failing = new Map<Transition, string>();

  constructor(runtime: Runtime, options: MachinesOptions) {
    this.#runtime = runtime;
    this.#options = options;
  }

  nodeNameOf(machineId: string): string {
    const { nodeNameOf = (id) => `host-${id.replaceAll(/[^a-z0-9]+/g, '-')}` } = this.#options;
    return nodeNameOf(machineId);
  }

  hold(kind: Transition): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#held.set(kind, promise);
    return () => {
      if (this.#held.get(kind) === promise) this.#held.delete(kind);
      resolve();
    };
  }

  fail(kind: Transition, problem: string): () => void {
    this.#failing.set(kind, problem);
    return () => this.#failing.delete(kind);
  }

  describe(): Promise<readonly Instance[]> {
    return Promise.resolve(this.#options.offers.flatMap((offer) => this.#slotsOf(offer)));
  }

  async createInstance(call: Call & { readonly operationId: string }): Promise<{
    readonly host: { readonly provider: string; readonly ref: string };
  }> {
    await this.#work('create', call);
    const ref = `host-${call.operationId}`;
    this.#hosts.set(call.machine.id, ref);
    return { host: { provider: 'test', ref } };
  }

  async configureInstance(call: Call & { readonly bootstrapBlob: Uint8Array }): Promise<void> {
    await this.#work('configure', call);
    const { machine } = call;
    const blob = new TextDecoder().decode(call.bootstrapBlob);
    const shape = this.#shapeOf(machine.id);
    this.#joins.set(machine.id, this.#options.kubelets.join(shape, blob));
  }

  async confirmNodeReady({ machine }: Call): Promise<void> {
    const joined = await this.#joins.get(machine.id);
    if (joined === undefined) throw new Error(`${machine.id} was never configured`);
    if (joined.kind === 'refused') throw new Error(joined.problem);
  }

  async drainInstance(call: Call): Promise<void> {
    await this.#work('drain', call);
    await this.#stopKubelet(call.machine.id, (name) => this.#options.kubelets.silence(name));
  }

  async deleteInstance(call: Call): Promise<void> {
    await this.#work('delete', call);
    await this.#stopKubelet(call.machine.id, (name) => this.#options.kubelets.leave(name));
    this.#hosts.delete(call.machine.id);
  }

  async #work(kind: Transition, { machine, signal }: Call): Promise<void> {
    await sleep(this.#runtime, WORK_MS * (0.5 + this.#runtime.random.float()), signal);
    await this.#held.get(kind);
    const problem = this.#failing.get(kind);
    if (problem !== undefined) throw new Error(problem);
    this.acts.push(`${kind} ${machine.id}`);
  }

  async #stopKubelet(id: string, stop: (name: string) => Promise<void> | void): Promise<void> {
    const joined = await this.#joins.get(id);
    this.#joins.delete(id);
    if (joined?.kind === 'joined') await stop(joined.nodeName);
  }

  #shapeOf(id: string): MachineShape {
    const offer = this.#options.offers.find((one) => id.startsWith(prefixOf(one)));
    if (offer === undefined) throw new Error(`${id} is no machine of this fleet`);
    const { providerIdOf = (ref) => `test://${ref}` } = this.#options;
    return {
      name: this.nodeNameOf(id),
      providerId: providerIdOf(this.#hosts.get(id) ?? id),
      labels: {
        'node.kubernetes.io/instance-type': offer.instanceType,
        'topology.kubernetes.io/zone': offer.zone,
        'karpenter.sh/capacity-type': offer.capacityType ?? 'OnDemand',
        ...offer.labels,
      },
      allocatable: offer.resources ?? RESOURCES,
    };
  }

  #slotsOf(offer: MachineOffer): Instance[] {
    const { capacityType = 'OnDemand', pricePerHour = 1, resources = RESOURCES } = offer;
    return Array.from({ length: offer.count }, (_, at) => {
      const id = `${prefixOf(offer)}${at}`;
      const ref = this.#hosts.get(id) ?? (capacityType === 'BareMetal' ? `rack-${id}` : undefined);
      return {
        id,
        instanceType: offer.instanceType,
        zone: offer.zone,
        capacityType,
        pricePerHour,
        interruptionProbability: 0,
        resources: new Map(Object.entries(resources)),
        ...(offer.labels === undefined ? {} : { labels: new Map(Object.entries(offer.labels)) }),
        ...(ref === undefined ? {} : { host: { provider: 'test', ref } }),
      };
    });
  }
}

interface Call {
  readonly machine: { readonly id: string };
  readonly signal: AbortSignal;
}

function prefixOf({ instanceType, zone }: MachineOffer): string {
  return `${instanceType}/${zone}/`;
}

// A whole shard core under virtual time: the fake provider, asynchronous unless told otherwise,
// the engine inline, and operators that answer at once.

import {
  createVirtualRuntime,
  type ExecuteOutcome,
  type Runtime,
  sleep,
  type VirtualRuntime,
} from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { CapacityType, type ConfigureBrake, type StateCode } from '@bigfleet/engine';
import { TokenSource } from '@bigfleet/wire';
import type { ActuationRails } from '../../cycle/dispose.ts';
import type { EngineHost } from '../../engine-host/engine-host.ts';
import { createInlineHost } from '../../engine-host/inline-host.ts';
import { rollupOf } from '../../engine-host/testing/random-inputs.ts';
import type { ActionOrder } from '../../execute/execution.ts';
import type { BlobAnswer, BlobSource, DrainNotice, DrainStart } from '../../execute/ports.ts';
import type { SlowDown } from '../../execute/provider-pace.ts';
import type { NodeChange } from '../../fleet/node-change.ts';
import type { ProviderError } from '../../provider/provider-error.ts';
import { ProviderSet } from '../../provider/provider-set.ts';
import { ProviderSource } from '../../provider/provider-source.ts';
import type { Provider, TransitionAck } from '../../provider/provider.ts';
import type { ListMode } from '../../provider/reconcile/list-plan.ts';
import { FakeProvider, type FakeSpec, InProcessProvider } from '../../testing/index.ts';
import type { CycleReport } from '../observer.ts';
import { ShardCore } from '../shard-core.ts';

export const openRails: ActuationRails = {
  isPaused: false,
  isDryRun: false,
  reclaimCapFraction: 0,
  maxActionsPerCycle: 0,
};

export interface Stage {
  readonly virtual: VirtualRuntime;
  readonly fake: FakeProvider;
  readonly host: EngineHost;
  readonly core: ShardCore;
  readonly providers: ProviderSet;
  /** Every call that changes something, as it left the shard: `configure host`. */
  readonly calls: string[];
  readonly cycles: CycleReport[];
  readonly executed: { readonly order: ActionOrder; readonly outcome: ExecuteOutcome }[];
  readonly released: ActionOrder[];
  readonly withheld: string[];
  readonly changes: NodeChange[];
  readonly drains: DrainNotice[];
  readonly deskCalls: string[];
  readonly throttled: { readonly provider: string; readonly slowDown: SlowDown | undefined }[];
  readonly problems: string[];
  /** What a test may change while the shard runs. */
  readonly world: {
    rails: ActuationRails;
    blob: BlobAnswer;
    /** Instead of `blob`, when a test wants to answer by itself. */
    pull: BlobSource['pull'] | undefined;
    /** How long a call that changes something is on the wire. */
    wireMs: number;
    /** What the provider answers to every call that changes something. */
    refusal: ProviderError | undefined;
    /** What the provider's answer is turned into on its way back. */
    ack: (answer: TransitionAck) => TransitionAck;
    drainStart: DrainStart;
    heldOff: ReadonlySet<string>;
  };
  demand(cluster: string, cores: number, priority?: number): Promise<void>;
  stateOf(id: string): StateCode | undefined;
  stop(): Promise<void>;
}

export interface StageOptions {
  readonly seed?: bigint;
  readonly latencyMs?: number;
  /** The provider is done when it answers. */
  readonly isInstant?: boolean;
  /** A machine stays Configuring until the test ends it. */
  readonly isConfigureStaged?: boolean;
  readonly executeConcurrency?: number;
  /** Absent: the rail is off. */
  readonly brake?: ConfigureBrake | undefined;
  /** Default: full. */
  readonly listMode?: ListMode;
}

export function stage(options: StageOptions = {}): Stage {
  const virtual = createVirtualRuntime({ seed: options.seed ?? 1n, drain: drainMicrotasks });
  const { runtime } = virtual;
  const { latencyMs = 500, isInstant: instantTransitions = false } = options;
  const configureStaged = options.isConfigureStaged ?? false;
  const fake = new FakeProvider({ runtime, latencyMs, instantTransitions, configureStaged });
  const tokens = new TokenSource('shard-0', 1n);
  const inner = new InProcessProvider({ runtime, fake, tokens });
  const provider = overWire(runtime, inner, () => state);
  const host = createInlineHost(runtime);
  const state: Omit<Stage, 'core' | 'demand' | 'stateOf' | 'stop'> = {
    virtual,
    fake,
    host,
    providers: new ProviderSet([
      new ProviderSource({ name: 'alpha', provider, mode: options.listMode ?? 'full' }),
    ]),
    calls: [],
    cycles: [],
    executed: [],
    released: [],
    withheld: [],
    changes: [],
    drains: [],
    deskCalls: [],
    throttled: [],
    problems: [],
    world: {
      rails: openRails,
      blob: { kind: 'blob', userData: Uint8Array.of(1), isExpired: () => false },
      pull: undefined,
      wireMs: 0,
      refusal: undefined,
      ack: (answer) => answer,
      drainStart: 'provider_now',
      heldOff: new Set(),
    },
  };
  const core = new ShardCore({
    runtime,
    host,
    providers: state.providers,
    blobs: {
      pull: (order, signal) =>
        state.world.pull?.(order, signal) ?? Promise.resolve(state.world.blob),
    },
    drains: {
      begin: (notice) => {
        state.drains.push(notice);
        return state.world.drainStart;
      },
      hold: () => void state.deskCalls.push('hold'),
      resume: () => void state.deskCalls.push('resume'),
      abandon: () => void state.deskCalls.push('abandon'),
    },
    executeConcurrency: options.executeConcurrency ?? 8,
    rails: () => state.world.rails,
    heldOff: () => state.world.heldOff,
    brake: options.brake,
    onNodeChange: (change) => state.changes.push(change),
    observer: {
      onCycle: (report) => state.cycles.push(report),
      onRefused: (provider) => state.problems.push(`refused by ${provider}`),
      onRejectedRecord: (_, { id, reason }) => state.problems.push(`rejected ${id}: ${reason}`),
      onSkippedMetadata: (id) => state.problems.push(`skipped metadata of ${id}`),
      onReleased: (order) => void state.released.push(order),
      onExecuted: (order, outcome) => state.executed.push({ order, outcome }),
      onWithheld: (order, by) => state.withheld.push(`${by} ${order.machineId}`),
      onFenced: (order) => state.problems.push(`fenced ${order.machineId}`),
      onThrottled: (provider, slowDown) => state.throttled.push({ provider, slowDown }),
      onProblem: (_, problem) => state.problems.push(problem),
      onCycleError: (error) => {
        throw error;
      },
    },
  });
  return {
    ...state,
    core,
    demand: async (cluster, cores, priority) => {
      const bytes = rollupOf(cluster, cores, priority);
      const applied = host.applyRollup({ cluster, bytes, isGuarded: false });
      core.wake();
      await virtual.runFor(0);
      await applied;
    },
    stateOf: (id) => {
      const slot = core.fleet.inventory.slotOf(id);
      return slot < 0 ? undefined : core.fleet.stateOf(slot);
    },
    stop: async () => {
      const stopped = core.stop(AbortSignal.abort(new Error('the test is over')));
      await virtual.runFor(60_000);
      await stopped;
      fake.close();
    },
  };
}

/** Notes what leaves the shard, and lets it travel. */
function overWire(
  runtime: Runtime,
  inner: Provider,
  stageOf: () => Pick<Stage, 'calls' | 'world'>,
): Provider {
  const travel = async (
    call: string,
    machineId: string,
    work: () => Promise<TransitionAck>,
  ): Promise<TransitionAck> => {
    const { calls, world } = stageOf();
    calls.push(`${call} ${machineId}`);
    if (world.wireMs > 0) await sleep(runtime, world.wireMs);
    if (world.refusal !== undefined) throw world.refusal;
    return world.ack(await work());
  };
  return {
    create: (id, limits) => travel('create', id, () => inner.create(id, limits)),
    configure: (order, limits) =>
      travel('configure', order.machineId, () => inner.configure(order, limits)),
    drain: (order, limits) => travel('drain', order.machineId, () => inner.drain(order, limits)),
    delete: (id, limits) => travel('delete', id, () => inner.delete(id, limits)),
    get: (id, limits) => inner.get(id, limits),
    list: (request, limits) => inner.list(request, limits),
  };
}

/** A slot or host of four cores in the pool that `rollupOf` asks for. */
export function fourCores(id: string): FakeSpec {
  return {
    id,
    instanceType: 'small',
    zone: 'zone-a',
    capacityType: CapacityType.OnDemand,
    pricePerHour: 0.2,
    interruptionProbability: 0,
    resources: new Map([['cpu', '4']]),
    allocatable: new Map([['cpu', '4']]),
    labels: new Map([['pool', 'general']]),
  };
}

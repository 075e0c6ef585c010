// Carries one action out: re-checks the machine, walks the transitional edge, calls the provider,
// and makes of every answer a fact or an outcome (shard §9.3, §9.4). A network blip is never a
// failed machine, a fenced call changes nothing, and only a definite refusal makes one Failed. A
// provider that is asked too much of (RESOURCE_EXHAUSTED) fails nothing: the action is put off.
//
// Held (a pause, a dry run, a fence), it begins nothing more: no call, no question to an operator,
// no instruction. What waits between two steps goes back; a call on the wire is the provider's.
//
// Never rejects: whatever happens has an outcome, and a bug is the outcome `other` with its error
// reported.

import type { ExecuteOutcome } from '@bigfleet/base';
import {
  ActionKind,
  type Assignment,
  encodeShardMetadata,
  isLegalTransition,
  noAssignment,
  startStateOf,
  State,
  type StateCode,
  stateName,
} from '@bigfleet/engine';
import type { ActionNeed } from '../engine-host/answer.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { isThrottled, ProviderError } from '../provider/provider-error.ts';
import type { ProviderSet } from '../provider/provider-set.ts';
import type { Provider, ReportedMachine, TransitionAck } from '../provider/provider.ts';
import { machineOfReport } from './adopt.ts';
import { type ActionOrder, type Execution, executionOf } from './execution.ts';
import type { BlobAnswer, BlobSource, DrainDesk, PacePort } from './ports.ts';

/** A blob that is stale when it arrives is pulled again, but not for ever. */
const BLOB_PULLS_MAX = 3;

export interface ExecutorPorts {
  readonly fleet: Fleet;
  readonly providers: ProviderSet;
  readonly blobs: BlobSource;
  readonly drains: DrainDesk;
  readonly pace: PacePort;
  /** This process is the zombie: actuation must stop. */
  readonly onFenced: (order: ActionOrder, error: ProviderError) => void;
  /** An action failed, or an answer could not be used; for the log. */
  readonly onProblem: (order: ActionOrder, problem: string, error?: unknown) => void;
}

type Call = 'create' | 'configure' | 'drain' | 'delete';

export class Executor {
  readonly #ports: ExecutorPorts;
  /** Aborted while nothing may begin. */
  #hold = new AbortController();

  constructor(ports: ExecutorPorts) {
    this.#ports = ports;
  }

  hold(): void {
    this.#hold.abort();
  }

  release(): void {
    if (this.#isHeld) this.#hold = new AbortController();
  }

  get #isHeld(): boolean {
    return this.#hold.signal.aborted;
  }

  async run(order: ActionOrder, signal: AbortSignal): Promise<Execution> {
    try {
      const isDue = order.isDrainDue === true;
      return await (isDue ? this.#finishDrain(order, signal) : this.#run(order, signal));
    } catch (error) {
      this.#ports.onProblem(order, 'a bug in an executor', error);
      this.#doubt(order);
      return 'other';
    }
  }

  /** The operator is done, or its time is up: the provider's part of a drain. */
  async #finishDrain(order: ActionOrder, signal: AbortSignal): Promise<Execution> {
    const { fleet } = this.#ports;
    const { handle, machineId, graceSeconds } = order;
    const isDraining = fleet.isSame(handle) && fleet.stateOf(handle.slot) === State.Draining;
    // Whoever saw it leave Draining has told how the drain ended.
    if (!isDraining) return 'moot';
    // From here on a List lags behind the call, whatever it says.
    fleet.setPending(handle.slot, 'in_flight');
    const gracePeriodSeconds = BigInt(Math.max(0, Math.floor(graceSeconds)));
    return this.#call(order, 'drain', signal, (provider) =>
      provider.drain({ machineId, gracePeriodSeconds }, { signal }),
    );
  }

  async #run(order: ActionOrder, signal: AbortSignal): Promise<Execution> {
    const { fleet, providers } = this.#ports;
    const { slot } = order.handle;
    if (this.#isHeld) return this.#heldBack(order);
    if (!fleet.isSame(order.handle)) return 'inventory_miss';
    if (fleet.stateOf(slot) !== startStateOf(order.kind)) return this.#repeated(order);
    // Before anything moves: of a half-walked edge no answer would ever tell.
    if (providers.route(fleet.read(slot)) === undefined) return this.#withoutProvider(order);
    switch (order.kind) {
      case ActionKind.Provision:
        return this.#provision(order, signal);
      case ActionKind.Bootstrap:
        return this.#bootstrap(order, signal);
      case ActionKind.Reclaim:
      case ActionKind.Preempt:
        return this.#drain(order, signal);
      case ActionKind.Delete:
        return this.#delete(order, signal);
    }
  }

  /** A duplicate that races a finished worker finds its work done: nothing failed. */
  #repeated({ kind, handle, cluster, need }: ActionOrder): ExecuteOutcome {
    if (kind === ActionKind.Provision) return 'stale_state';
    if (kind !== ActionKind.Bootstrap) return 'success';
    const { state, cluster: bound, assigned } = this.#ports.fleet.read(handle.slot);
    const isDone =
      state === State.Configured &&
      bound === cluster &&
      assigned.needFingerprint === need?.fingerprint;
    return isDone ? 'success' : 'stale_state';
  }

  #heldBack(order: ActionOrder): ExecuteOutcome {
    this.#ports.onProblem(order, 'actuation was stopped before the provider was asked');
    return 'ctx_canceled';
  }

  /** Stamped before the call: a machine in creation counts for the need that bought it. */
  async #provision(order: ActionOrder, signal: AbortSignal): Promise<Execution> {
    const { need, machineId } = order;
    if (need === undefined) return 'missing_profile';
    const { fleet } = this.#ports;
    const { slot } = order.handle;
    fleet.move(slot, State.Creating, {
      assigned: { ...noAssignment, needFingerprint: need.fingerprint, group: need.group },
      intendedCluster: order.cluster,
    });
    const outcome = await this.#call(order, 'create', signal, (provider) =>
      provider.create(machineId, { signal }),
    );
    const isIdle =
      outcome === 'success' && fleet.isSame(order.handle) && fleet.stateOf(slot) === State.Idle;
    // The machine was created, which is a step of its own: the next cycle claims it.
    return isIdle && !this.#isHeld ? this.#bootstrap(order, signal) : outcome;
  }

  /** Bound before the blob is pulled, or the next cycle would buy a second machine. */
  async #bootstrap(order: ActionOrder, signal: AbortSignal): Promise<Execution> {
    const { need, machineId, cluster } = order;
    if (need === undefined) return 'missing_profile';
    const { fleet } = this.#ports;
    const assigned = assignmentOf(need);
    fleet.move(order.handle.slot, State.Configuring, { cluster, assigned });
    const blob = await this.#pull(order, need, signal);
    if (blob.kind !== 'blob' || this.#isHeld) return this.#rollBack(order, blob.kind, signal);
    if (!fleet.isSame(order.handle)) return 'inventory_miss';
    const state = fleet.stateOf(order.handle.slot);
    if (state === State.Idle) return 'transition_raced_to_idle';
    if (state !== State.Configuring) return this.#illegal(order, State.Configured);
    const shardMetadata = new Map(Object.entries(encodeShardMetadata(assigned)));
    return this.#call(order, 'configure', signal, (provider) =>
      provider.configure(
        { machineId, clusterId: cluster, bootstrapBlob: blob.userData, shardMetadata },
        { signal },
      ),
    );
  }

  async #pull(order: ActionOrder, need: ActionNeed, signal: AbortSignal): Promise<BlobAnswer> {
    const { cluster, machineId } = order;
    const { fingerprint, requirements } = need;
    const wait = eitherOf(signal, this.#hold.signal);
    try {
      for (let pulls = 0; pulls < BLOB_PULLS_MAX; pulls++) {
        const blob = await this.#ports.blobs.pull(
          { cluster, machineId, fingerprint, requirements },
          wait.signal,
        );
        if (blob.kind !== 'blob' || wait.signal.aborted || !blob.isExpired()) return blob;
      }
      return { kind: 'timed_out' };
    } finally {
      wait.dispose();
    }
  }

  /** The provider was not touched: the machine goes back, whole, and is no failure. */
  #rollBack(order: ActionOrder, kind: BlobAnswer['kind'], signal: AbortSignal): ExecuteOutcome {
    const { fleet } = this.#ports;
    const { handle } = order;
    if (fleet.isSame(handle) && fleet.stateOf(handle.slot) === State.Configuring) {
      fleet.move(handle.slot, State.Idle);
    }
    if (this.#isHeld) return this.#heldBack(order);
    if (kind === 'refused') return 'blob_error';
    if (kind === 'no_session' && !signal.aborted) return 'no_session';
    return 'ctx_canceled';
  }

  async #drain(order: ActionOrder, signal: AbortSignal): Promise<Execution> {
    const { fleet, drains } = this.#ports;
    const { slot } = order.handle;
    fleet.move(slot, State.Draining);
    if (drains.begin({ ...order, reasonCode: order.reason }) === 'provider_now')
      return this.#finishDrain(order, signal);
    fleet.setPending(slot, 'drain_wait');
    return { underWay: State.Draining };
  }

  async #delete(order: ActionOrder, signal: AbortSignal): Promise<Execution> {
    const { machineId } = order;
    this.#ports.fleet.move(order.handle.slot, State.Deleting);
    return this.#call(order, 'delete', signal, (provider) =>
      provider.delete(machineId, { signal }),
    );
  }

  async #call(
    order: ActionOrder,
    call: Call,
    signal: AbortSignal,
    work: (provider: Provider) => Promise<TransitionAck>,
  ): Promise<Execution> {
    const { fleet, providers } = this.#ports;
    const provider = providers.route(fleet.read(order.handle.slot));
    if (provider === undefined) return this.#withoutProvider(order);
    try {
      const { machine } = await work(provider);
      this.#ports.pace.accepted(order);
      if (machine !== undefined) return this.#adopt(order, call, machine);
      this.#doubt(order);
      return { underWay: edges[call].transit };
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      return this.#afterError(order, call, provider, error, signal);
    }
  }

  /** Its provider is configured no more; an unfinished bootstrap goes back, untouched. */
  #withoutProvider(order: ActionOrder): ExecuteOutcome {
    const { fleet, onProblem } = this.#ports;
    const { slot } = order.handle;
    onProblem(order, "the machine's provider is not configured any more");
    if (fleet.stateOf(slot) === State.Configuring) fleet.move(slot, State.Idle);
    return 'provider_error';
  }

  async #afterError(
    order: ActionOrder,
    call: Call,
    provider: Provider,
    error: ProviderError,
    signal: AbortSignal,
  ): Promise<Execution> {
    this.#ports.onProblem(order, `${call}: ${error.message}`, error);
    if (isThrottled(error)) return this.#putOff(order, call, provider);
    switch (error.failure) {
      case 'fenced':
        this.#doubt(order);
        this.#ports.onFenced(order, error);
        return 'fenced';
      case 'rejected':
      case 'not_found':
      case 'not_supported':
        return this.#fail(order, `${call}: ${error.message}`);
      case 'state_refusal':
      case 'unknown_result': {
        const outcome = await this.#askTruth(order, call, provider, error);
        return signal.aborted ? 'ctx_canceled' : outcome;
      }
    }
  }

  #fail(order: ActionOrder, lastError: string): ExecuteOutcome {
    const { fleet } = this.#ports;
    const { handle } = order;
    if (!fleet.isSame(handle)) return 'provider_error';
    if (!isLegalTransition(fleet.stateOf(handle.slot), State.Failed)) {
      return this.#illegal(order, State.Failed);
    }
    fleet.fail(handle.slot, lastError);
    return 'provider_error';
  }

  /** The machine table forbids the move: reconcile or an ack saw it elsewhere. */
  #illegal(order: ActionOrder, to: StateCode): ExecuteOutcome {
    const { fleet, onProblem } = this.#ports;
    const from = stateName(fleet.stateOf(order.handle.slot));
    onProblem(order, `no transition from ${from} to ${stateName(to)}`);
    this.#doubt(order);
    return 'transition_error';
  }

  /** Whether the call took effect is the provider's to say; if it is mute, the next List does. */
  async #askTruth(
    order: ActionOrder,
    call: Call,
    provider: Provider,
    error: ProviderError,
  ): Promise<ExecuteOutcome> {
    const reported = await this.#get(order, provider);
    if (reported === undefined) return 'provider_error';
    const isStillThere = reported.state === edges[call].start;
    if (error.failure === 'state_refusal' && isStillThere) {
      return this.#fail(order, `${call}: ${error.message}`);
    }
    this.#adopt(order, call, reported);
    return 'provider_error';
  }

  /** No outcome of the action, unless the call took effect all the same. */
  async #putOff(order: ActionOrder, call: Call, provider: Provider): Promise<Execution> {
    this.#ports.pace.throttled(order);
    const reported = await this.#get(order, provider);
    if (reported === undefined) return 'put_off';
    const execution = this.#adopt(order, call, reported);
    return reported.state === edges[call].start ? 'put_off' : execution;
  }

  /** Undefined when the provider is mute about the machine, which is in doubt then. */
  async #get(order: ActionOrder, provider: Provider): Promise<ReportedMachine | undefined> {
    try {
      return await provider.get(order.machineId);
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      this.#ports.onProblem(order, `get: ${error.message}`, error);
      this.#doubt(order);
      return undefined;
    }
  }

  /** The edge was walked here; whether the provider walked it is unknown. */
  #doubt({ handle }: ActionOrder): void {
    const { fleet } = this.#ports;
    if (fleet.isSame(handle)) fleet.doubt(handle.slot);
  }

  /** An answer is a fact, if it is a machine at all. */
  #adopt(order: ActionOrder, call: Call, reported: ReportedMachine): Execution {
    const { fleet, onProblem } = this.#ports;
    if (!fleet.isSame(order.handle)) return 'inventory_miss';
    const machine = machineOfReport(reported, fleet.read(order.handle.slot));
    if (!machine.ok) {
      onProblem(order, `${call}: ack rejected: ${machine.error}`);
      return this.#fail(order, `${call}: ack rejected: ${machine.error}`);
    }
    fleet.observe(machine.value);
    if (machine.value.state === State.Failed) onProblem(order, machine.value.lastError);
    return executionOf(edges[call].transit, order.cluster, machine.value);
  }
}

const edges: Readonly<Record<Call, { readonly start: StateCode; readonly transit: StateCode }>> = {
  create: { start: State.Speculative, transit: State.Creating },
  configure: { start: State.Idle, transit: State.Configuring },
  drain: { start: State.Configured, transit: State.Draining },
  delete: { start: State.Idle, transit: State.Deleting },
};

/** Ends with the first of the two, and leaves no listener on a signal that outlives the wait. */
function eitherOf(
  one: AbortSignal,
  other: AbortSignal,
): { readonly signal: AbortSignal; dispose(): void } {
  const controller = new AbortController();
  const end = (): void => controller.abort();
  const sources = [one, other];
  if (sources.some(({ aborted }) => aborted)) end();
  for (const source of sources) source.addEventListener('abort', end, { once: true });
  return {
    signal: controller.signal,
    dispose: () => sources.forEach((source) => source.removeEventListener('abort', end)),
  };
}

function assignmentOf(need: ActionNeed): Assignment {
  return {
    priority: need.priority,
    interruptionBucket: need.interruptionBucket,
    reclamationBucket: need.reclamationBucket,
    needFingerprint: need.fingerprint,
    group: need.group,
  };
}

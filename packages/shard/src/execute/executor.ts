// Carries one action out: re-checks the machine, walks the transitional edge, calls the provider,
// and makes of every answer a fact or an outcome (shard §9.3, §9.4). A network blip is never a
// failed machine, a fenced call changes nothing, and only a definite refusal makes one Failed.
//
// Never rejects: whatever happens has an outcome, and a bug is the outcome `other` with its error
// reported.

import type { ExecuteOutcome } from '@bigfleet/base';
import {
  ActionKind,
  type Assignment,
  encodeShardMetadata,
  isBound,
  noAssignment,
  startStateOf,
  State,
  type StateCode,
} from '@bigfleet/engine';
import type { Fleet } from '../fleet/fleet.ts';
import type { Provider, ReportedMachine, TransitionAck } from '../provider/provider.ts';
import { ProviderError } from '../provider/provider-error.ts';
import type { ProviderSet } from '../provider/provider-set.ts';
import type { ActionNeed } from '../engine-host/answer.ts';
import { machineOfReport } from './adopt.ts';
import type { ActionOrder } from './order.ts';
import type { BlobAnswer, BlobSource, DrainDesk } from './ports.ts';

/** A blob that is stale when it arrives is pulled again, but not for ever. */
const BLOB_PULLS_MAX = 3;

export interface ExecutorPorts {
  readonly fleet: Fleet;
  readonly providers: ProviderSet;
  readonly blobs: BlobSource;
  readonly drains: DrainDesk;
  /** This process is the zombie: actuation must stop. */
  readonly onFenced: (order: ActionOrder, error: ProviderError) => void;
  /** An action failed, or an answer could not be used; for the log. */
  readonly onProblem: (order: ActionOrder, problem: string, error?: unknown) => void;
}

type Call = 'create' | 'configure' | 'drain' | 'delete';

export class Executor {
  readonly #ports: ExecutorPorts;

  constructor(ports: ExecutorPorts) {
    this.#ports = ports;
  }

  async run(order: ActionOrder, signal: AbortSignal): Promise<ExecuteOutcome> {
    try {
      return await this.#run(order, signal);
    } catch (error) {
      this.#ports.onProblem(order, 'a bug in an executor', error);
      this.#doubt(order);
      return 'other';
    }
  }

  /** The operator is done, or its time is up: the provider's part of a drain. */
  async finishDrain(
    order: ActionOrder,
    graceSeconds: number,
    signal: AbortSignal,
  ): Promise<ExecuteOutcome> {
    const { fleet } = this.#ports;
    const { slot } = order.handle;
    if (!fleet.isSame(order.handle)) return 'inventory_miss';
    if (fleet.stateOf(slot) !== State.Draining) return 'stale_state';
    const { machineId } = order;
    const gracePeriodSeconds = BigInt(Math.max(0, Math.floor(graceSeconds)));
    return this.#call(order, 'drain', signal, (provider) =>
      provider.drain({ machineId, gracePeriodSeconds }, { signal }),
    );
  }

  async #run(order: ActionOrder, signal: AbortSignal): Promise<ExecuteOutcome> {
    const { fleet, providers } = this.#ports;
    const { slot } = order.handle;
    if (!fleet.isSame(order.handle)) return 'inventory_miss';
    if (fleet.stateOf(slot) !== startStateOf(order.kind)) return 'stale_state';
    // Before anything moves: nobody would ever say what became of a half-walked edge.
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

  /** Stamped before the call: a machine in creation counts for the need that bought it. */
  async #provision(order: ActionOrder, signal: AbortSignal): Promise<ExecuteOutcome> {
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
    return isIdle ? this.#bootstrap(order, signal) : outcome;
  }

  /** Bound before the blob is pulled, or the next cycle would buy a second machine. */
  async #bootstrap(order: ActionOrder, signal: AbortSignal): Promise<ExecuteOutcome> {
    const { need, machineId, cluster } = order;
    if (need === undefined) return 'missing_profile';
    const { fleet } = this.#ports;
    const assigned = assignmentOf(need);
    fleet.move(order.handle.slot, State.Configuring, { cluster, assigned });
    const blob = await this.#pull(order, need, signal);
    if (blob.kind !== 'blob') return this.#rollBack(order, blob, signal);
    if (!fleet.isSame(order.handle)) return 'inventory_miss';
    if (fleet.stateOf(order.handle.slot) === State.Idle) return 'transition_raced_to_idle';
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
    for (let pulls = 0; pulls < BLOB_PULLS_MAX; pulls++) {
      const blob = await this.#ports.blobs.pull(
        { cluster, machineId, fingerprint, requirements },
        signal,
      );
      if (blob.kind !== 'blob' || !blob.isExpired()) return blob;
    }
    return { kind: 'timed_out' };
  }

  /** The provider was not touched: the machine goes back, whole, and is no failure. */
  #rollBack(
    { handle }: ActionOrder,
    { kind }: Exclude<BlobAnswer, { kind: 'blob' }>,
    signal: AbortSignal,
  ): ExecuteOutcome {
    const { fleet } = this.#ports;
    if (fleet.isSame(handle) && fleet.stateOf(handle.slot) === State.Configuring) {
      fleet.move(handle.slot, State.Idle);
    }
    if (kind === 'refused') return 'blob_error';
    if (kind === 'no_session' && !signal.aborted) return 'no_session';
    return 'ctx_canceled';
  }

  async #drain(order: ActionOrder, signal: AbortSignal): Promise<ExecuteOutcome> {
    const { fleet, drains } = this.#ports;
    const { handle, machineId, cluster, graceSeconds, preemptorPriority, reason } = order;
    fleet.move(handle.slot, State.Draining);
    const start = drains.begin({
      handle,
      machineId,
      cluster,
      graceSeconds,
      preemptorPriority,
      reasonCode: reason,
    });
    if (start === 'provider_now') return this.finishDrain(order, graceSeconds, signal);
    fleet.setPending(handle.slot, 'drain_wait');
    return 'success';
  }

  async #delete(order: ActionOrder, signal: AbortSignal): Promise<ExecuteOutcome> {
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
  ): Promise<ExecuteOutcome> {
    const { fleet, providers } = this.#ports;
    const provider = providers.route(fleet.read(order.handle.slot));
    if (provider === undefined) return this.#withoutProvider(order);
    try {
      const { machine } = await work(provider);
      if (machine !== undefined) return this.#adopt(order, call, machine);
      this.#doubt(order);
      return 'success';
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
  ): Promise<ExecuteOutcome> {
    this.#ports.onProblem(order, `${call}: ${error.message}`, error);
    switch (error.failure) {
      case 'fenced':
        this.#doubt(order);
        this.#ports.onFenced(order, error);
        return 'fenced';
      case 'rejected':
      case 'not_found':
      case 'not_supported':
        return this.#fail(order, call, error);
      case 'state_refusal':
      case 'unknown_result': {
        const outcome = await this.#askTruth(order, call, provider, error);
        return signal.aborted ? 'ctx_canceled' : outcome;
      }
    }
  }

  #fail({ handle }: ActionOrder, call: Call, error: ProviderError): ExecuteOutcome {
    const { fleet } = this.#ports;
    if (fleet.isSame(handle)) fleet.fail(handle.slot, `${call}: ${error.message}`);
    return 'provider_error';
  }

  /** Whether the call took effect is the provider's to say; if it is mute, the next List does. */
  async #askTruth(
    order: ActionOrder,
    call: Call,
    provider: Provider,
    error: ProviderError,
  ): Promise<ExecuteOutcome> {
    let reported: ReportedMachine;
    try {
      reported = await provider.get(order.machineId);
    } catch (getError) {
      if (!(getError instanceof ProviderError)) throw getError;
      this.#ports.onProblem(order, `get: ${getError.message}`, getError);
      this.#doubt(order);
      return 'provider_error';
    }
    const isStillThere = reported.state === startOfCall[call];
    if (error.failure === 'state_refusal' && isStillThere) return this.#fail(order, call, error);
    this.#adopt(order, call, reported);
    return 'provider_error';
  }

  /** The edge was walked here, and nobody said whether it was walked there. */
  #doubt({ handle }: ActionOrder): void {
    const { fleet } = this.#ports;
    if (fleet.isSame(handle)) fleet.doubt(handle.slot);
  }

  /** An answer is a fact, if it is a machine at all. */
  #adopt(order: ActionOrder, call: Call, reported: ReportedMachine): ExecuteOutcome {
    const { fleet, onProblem } = this.#ports;
    if (!fleet.isSame(order.handle)) return 'inventory_miss';
    const machine = machineOfReport(reported, fleet.read(order.handle.slot));
    if (!machine.ok) {
      onProblem(order, `${call}: ack rejected: ${machine.error}`);
      fleet.fail(order.handle.slot, `${call}: ack rejected: ${machine.error}`);
      return 'provider_error';
    }
    fleet.observe(machine.value);
    const isOurs = !isBound(machine.value.state) || machine.value.cluster === order.cluster;
    return isOurs ? 'success' : 'stale_state';
  }
}

const startOfCall: Readonly<Record<Call, StateCode>> = {
  create: State.Speculative,
  configure: State.Idle,
  drain: State.Configured,
  delete: State.Idle,
};

function assignmentOf(need: ActionNeed): Assignment {
  return {
    priority: need.priority,
    interruptionBucket: need.interruptionBucket,
    reclamationBucket: need.reclamationBucket,
    needFingerprint: need.fingerprint,
    group: need.group,
  };
}

// A machine as readers see it: the fleet's record, and what only this process knows about it. Read
// from the live fleet at each question; nothing is kept per machine.

import type { Clock } from '@bigfleet/base';
import { type ActionKindCode, actionKindName, State } from '@bigfleet/engine';
import { type CapacityType, fromMap, type MachineViewSchema } from '@bigfleet/wire';
import { wireBucket, wireResources } from '../engine-host/wire-values.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { StateTimes } from './state-times.ts';
import type { Init } from './wire-init.ts';

export type MachineViewInit = Init<typeof MachineViewSchema>;

/** What is known beside the fleet. Every answer is a lookup. */
export interface MachineNotes {
  nodeName(machineId: string): string | undefined;
  /** Monotonic; undefined when no drain waits for the operator. */
  drainDeadlineMs(machineId: string): number | undefined;
  /** Of the transfer that holds the machine. */
  frozenTransferId(machineId: string): string | undefined;
}

export interface MachineViewsOptions {
  readonly fleet: Fleet;
  readonly clock: Clock;
  readonly times: StateTimes;
  readonly notes: MachineNotes;
}

export class MachineViews {
  readonly #options: MachineViewsOptions;
  /** One offset for all deadlines: a view that is read twice says the same twice. */
  readonly #monotonicZeroUnixNanos: bigint;
  /** What was ordered for a machine last, by slot. Bound: one entry per machine under way. */
  readonly #ordered = new Map<number, ActionKindCode>();

  constructor(options: MachineViewsOptions) {
    this.#options = options;
    const { clock } = options;
    this.#monotonicZeroUnixNanos = clock.unixNanos() - nanosOf(clock.monotonicMs());
  }

  /** An action was queued for the machine. */
  noteOrdered(slot: number, kind: ActionKindCode): void {
    this.#ordered.set(slot, kind);
  }

  noteDone(slot: number): void {
    if (this.#options.fleet.pendingOf(slot) === 'none') this.#ordered.delete(slot);
  }

  viewOf(slot: number): MachineViewInit {
    const { fleet, times, notes } = this.#options;
    const machine = fleet.read(slot);
    const { id, host, assigned } = machine;
    const sinceUnixNanos = times.sinceUnixNanos(slot);
    return {
      machineId: id,
      state: machine.state,
      clusterId: machine.cluster,
      provider: machine.provider,
      ...(host === undefined ? {} : { host: { provider: host.provider, ref: host.ref } }),
      instanceType: machine.instanceType,
      zone: machine.zone,
      capacityType: machine.capacityType as CapacityType,
      pricePerHour: machine.pricePerHour,
      interruptionProbability: machine.interruptionProbability,
      allocatable: wireResources(machine.allocatable),
      labels: fromMap(machine.labels),
      lastError: machine.lastError,
      nodeName: notes.nodeName(id) ?? '',
      assignedPriority: assigned.priority,
      interruptionPenaltyBucket: wireBucket(assigned.interruptionBucket),
      reclamationPenaltyBucket: wireBucket(assigned.reclamationBucket),
      needFingerprint: assigned.needFingerprint,
      group: assigned.group,
      intendedClusterId: machine.intendedCluster,
      stateSinceUnixNanos: sinceUnixNanos,
      idleSinceUnixNanos: machine.state === State.Idle ? sinceUnixNanos : 0n,
      pendingAction: this.#pendingAction(slot),
      frozenTransferId: notes.frozenTransferId(id) ?? '',
      drainDeadlineUnixNanos: this.#unixNanosAt(notes.drainDeadlineMs(id)),
    };
  }

  #pendingAction(slot: number): string {
    const kind = this.#ordered.get(slot);
    const isPending = this.#options.fleet.pendingOf(slot) !== 'none';
    return kind === undefined || !isPending ? '' : actionKindName(kind);
  }

  #unixNanosAt(monotonicMs: number | undefined): bigint {
    if (monotonicMs === undefined) return 0n;
    return this.#monotonicZeroUnixNanos + nanosOf(monotonicMs);
  }
}

function nanosOf(ms: number): bigint {
  return BigInt(Math.round(ms * 1_000)) * 1_000n;
}

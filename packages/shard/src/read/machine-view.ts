// A machine as readers see it: the fleet's record, and what only this process knows about it. Read
// from the live fleet at each question; nothing is kept per machine.
//
// Half of a view's bytes are those of its class (type, place, price, labels, resources). The feed sends a view
// for every write and for every machine of a snapshot, so the bytes of a class are made once.

import { assert, type Clock } from '@bigfleet/base';
import { type ActionKindCode, actionKindName, type Machine, State } from '@bigfleet/engine';
import { encodeInit, fromMap, MachineViewSchema } from '@bigfleet/wire';
import { wireBucket, wireResources } from '../engine-host/wire-values.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { joinBytes } from '../provider/list/byte-ranges.ts';
import type { StateTimes } from './state-times.ts';
import type { Init, RowInit } from './wire-init.ts';

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
  /** By the shape of the class: gone with it. */
  readonly #classBytes = new WeakMap<object, Uint8Array>();

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
    const machine = this.#options.fleet.read(slot);
    return { ...this.#ownPart(slot, machine), ...classPart(machine) };
  }

  /** `viewOf` as bytes: fields of a message may stand in any order, so its parts are joined. */
  encoded(slot: number): Uint8Array {
    const { fleet } = this.#options;
    const machine = fleet.read(slot);
    const { classes, columns } = fleet.inventory;
    // A number of a class is given to another one when its last machine has gone; its shape is not.
    const shape = classes.shape(columns.klass[slot]!);
    assert(shape !== undefined, 'a machine without a class', { slot });
    let bytes = this.#classBytes.get(shape);
    if (bytes === undefined) {
      bytes = encodeInit(MachineViewSchema, classPart(machine));
      this.#classBytes.set(shape, bytes);
    }
    return joinBytes([encodeInit(MachineViewSchema, this.#ownPart(slot, machine)), bytes]);
  }

  #ownPart(slot: number, machine: Machine): RowInit<typeof MachineViewSchema> {
    const { times, notes } = this.#options;
    const { id, host, assigned } = machine;
    const sinceUnixNanos = times.sinceUnixNanos(slot);
    return {
      machineId: id,
      state: machine.state,
      clusterId: machine.cluster,
      ...(host === undefined ? {} : { host: { provider: host.provider, ref: host.ref } }),
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

/** What all machines of a class say alike. */
function classPart(machine: Machine): RowInit<typeof MachineViewSchema> {
  return {
    provider: machine.provider,
    instanceType: machine.instanceType,
    zone: machine.zone,
    capacityType: machine.capacityType,
    pricePerHour: machine.pricePerHour,
    interruptionProbability: machine.interruptionProbability,
    allocatable: wireResources(machine.allocatable),
    labels: fromMap(machine.labels),
  };
}

function nanosOf(ms: number): bigint {
  return BigInt(Math.round(ms * 1_000)) * 1_000n;
}

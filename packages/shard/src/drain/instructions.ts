// ReclaimInstructions: the frame that tells an operator to drain a node, and the memory of the ids that
// it may acknowledge (shard §4.5).

import type { ActionOrder } from '../execute/execution.ts';
import type { ShardFrame } from '../session/frame.ts';
import type { DrainKind } from './metrics.ts';
import type { Timer, TimerWheel } from '@bigfleet/base';

export interface DrainRequest
  extends Pick<ActionOrder, 'machineId' | 'cluster' | 'graceSeconds' | 'preemptorPriority'> {
  readonly kind: DrainKind;
  /** An action reason of base. */
  readonly reasonCode: string;
}

/**
 * A ReclaimInstruction for one machine. `nodes` carries the node's name, or the machine id while
 * the name is unknown; `machine_ids` always carries the id (decision 9). Grace on the wire is at
 * least one second: operators read zero as their own default of 30 s.
 */
export function instructionFrame(
  { machineId, preemptorPriority, reasonCode }: DrainRequest,
  { id, node, graceMs }: { readonly id: string; readonly node: string; readonly graceMs: number },
): ShardFrame {
  const graceSeconds = Math.max(1, Math.ceil(graceMs / 1_000));
  return {
    payload: {
      case: 'reclaimInstruction',
      value: {
        instructionId: id,
        nodes: [node],
        gracePeriodSeconds: BigInt(graceSeconds),
        preemptorPriority,
        machineIds: [machineId],
        reasonCode,
      },
    },
  };
}

const MAX_ISSUED = 500_000;
const AFTERLIFE_MS = 60_000;

export interface IssuedInstruction {
  readonly cluster: string;
  readonly machineId: string;
  /** As written into the instruction. */
  readonly node: string;
}

interface Entry extends IssuedInstruction {
  readonly timer: Timer;
}

/**
 * The instruction ids that each cluster was given, so that an ack can be believed or dropped. An id
 * outlives its drain by a minute: acks for it are then late, not forged.
 *
 * Bound: MAX_ISSUED ids, the oldest forgotten first.
 */
export class IssuedInstructions {
  readonly #wheel: TimerWheel;
  readonly #byId = new Map<string, Entry>();

  constructor(wheel: TimerWheel) {
    this.#wheel = wheel;
  }

  /** Issuing again under the same id renews it. */
  add(id: string, issued: IssuedInstruction, graceMs: number): void {
    this.#byId.get(id)?.timer.cancel();
    if (this.#byId.size >= MAX_ISSUED) this.#deleteOldest();
    const timer = this.#wheel.after(graceMs + AFTERLIFE_MS, () => this.#byId.delete(id));
    this.#byId.set(id, { ...issued, timer });
  }

  /** Undefined for an id that this cluster was never given. */
  find(id: string, cluster: string): IssuedInstruction | undefined {
    const entry = this.#byId.get(id);
    return entry?.cluster === cluster ? entry : undefined;
  }

  stop(): void {
    for (const { timer } of this.#byId.values()) timer.cancel();
    this.#byId.clear();
  }

  #deleteOldest(): void {
    const [oldest] = this.#byId;
    oldest?.[1].timer.cancel();
    this.#byId.delete(oldest?.[0] ?? '');
  }
}

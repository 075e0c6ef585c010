// Between executors and operators for drains: hands a drain to the operator and, when it says that
// it is done or its grace is over, the rest to the execute pool. A pool that is full right then
// refuses; the drain is offered again whenever the pool may have room, because nobody else would:
// the machine is marked and no cycle derives it again. While actuation is held, nothing is offered
// and no grace runs; what an operator reports meanwhile is kept for the resume.
//
// Bound: one entry per machine that drains.

import { type ActionReason, assert } from '@bigfleet/base';
import { ActionKind } from '@bigfleet/engine';
import type { DrainWaits, FiredDrain } from '../drain/drain-waits.ts';
import type { ActionOrder } from '../execute/execution.ts';
import type { DrainDesk, DrainNotice, DrainStart } from '../execute/ports.ts';

const PREEMPTIONS: ReadonlySet<string> = new Set<ActionReason>([
  'phase2.inversion',
  'coordinator.cross_shard_drain',
]);

export interface OperatorDrainDeskOptions {
  readonly waits: Pick<DrainWaits, 'begin' | 'leave' | 'hold' | 'resume' | 'abandon'>;
  /** False when it must be offered again. */
  readonly offer: (order: ActionOrder, graceSeconds: number) => boolean;
  /** The provider's part of a drain begins now. */
  readonly onDue: (machineId: string) => void;
}

interface Due {
  readonly order: ActionOrder;
  readonly graceSeconds: number;
}

export class OperatorDrainDesk implements DrainDesk {
  readonly #options: OperatorDrainDeskOptions;
  readonly #handed = new Map<string, ActionOrder>();
  readonly #due = new Map<string, Due>();

  constructor(options: OperatorDrainDeskOptions) {
    this.#options = options;
  }

  begin(notice: DrainNotice): DrainStart {
    const { machineId, cluster, graceSeconds, preemptorPriority, reasonCode } = notice;
    const order = orderOf(notice);
    const start = this.#options.waits.begin({
      kind: order.kind === ActionKind.Preempt ? 'Preempt' : 'Reclaim',
      machineId,
      cluster,
      graceSeconds,
      preemptorPriority,
      reasonCode,
    });
    if (start.kind === 'call_provider') return 'provider_now';
    this.#handed.set(machineId, order);
    return 'operator_first';
  }

  /** From the table of waits: the provider's turn. */
  fired({ machineId, graceSeconds }: FiredDrain): void {
    const order = this.#handed.get(machineId);
    assert(order !== undefined, 'a drain fired that was never handed over', { machineId });
    this.#handed.delete(machineId);
    this.#due.set(machineId, { order, graceSeconds });
    this.offerDue();
  }

  /** The pool may have room. */
  offerDue(): void {
    for (const [machineId, { order, graceSeconds }] of this.#due) {
      if (!this.#options.offer(order, graceSeconds)) return;
      this.#due.delete(machineId);
      this.#options.onDue(machineId);
    }
  }

  hold(): void {
    this.#options.waits.hold();
  }

  resume(): void {
    this.#options.waits.resume();
    this.offerDue();
  }

  abandon(): void {
    this.#handed.clear();
    this.#due.clear();
    this.#options.waits.abandon();
  }

  /** The machine is Draining no more, or gone: what waits is moot. */
  leave(machineId: string): void {
    this.#handed.delete(machineId);
    this.#due.delete(machineId);
    this.#options.waits.leave(machineId);
  }
}

/** Only what is needed to finish: the decision is behind us. */
function orderOf(notice: DrainNotice): ActionOrder {
  const { handle, machineId, cluster, graceSeconds, preemptorPriority, reasonCode } = notice;
  const kind = PREEMPTIONS.has(reasonCode) ? ActionKind.Preempt : ActionKind.Reclaim;
  return {
    kind,
    handle,
    machineId,
    cluster,
    need: undefined,
    graceSeconds,
    preemptorPriority,
    reason: reasonCode,
    cycle: 0,
  };
}

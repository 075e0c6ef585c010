// Executions whose worker is free and whose end is still to come: a provider carries them out, or an
// operator has the drain. Each is counted once, when its machine shows how it ended (observability
// §3.4): a success at the ack would hide the machines that never materialise, which is the one thing
// that the bootstrap success ratio is there to see.
//
// Nothing is persisted: after a restart nobody knows which order a machine in transition goes back
// to, and nothing is counted for it. Bound: one entry per machine in transition.

import type { ExecuteOutcome } from '@bigfleet/base';
import { type Machine, State, type StateCode } from '@bigfleet/engine';
import type { NodeChange } from '../fleet/node-change.ts';
import { type ActionOrder, executionOf, type UnderWay } from './execution.ts';

export interface EndedExecution {
  readonly order: ActionOrder;
  readonly outcome: ExecuteOutcome;
  /** How long its worker had it. */
  readonly tookMs: number;
  /** What the provider says went wrong; empty when it said nothing. */
  readonly problem: string;
}

interface OpenExecution {
  readonly order: ActionOrder;
  readonly transit: StateCode;
  readonly tookMs: number;
}

export class OpenExecutions {
  readonly #onEnded: (ended: EndedExecution) => void;
  readonly #byMachine = new Map<string, OpenExecution>();

  constructor(onEnded: (ended: EndedExecution) => void) {
    this.#onEnded = onEnded;
  }

  /** `machine` as it is now, which may be the end already; undefined when it is gone. */
  begin(order: ActionOrder, { underWay }: UnderWay, tookMs: number, machine?: Machine): void {
    this.#byMachine.set(order.machineId, { order, transit: underWay, tookMs });
    this.#look(order.machineId, machine);
  }

  /** With every applied change, whoever saw it. */
  changed({ machine, isRemoved }: NodeChange): void {
    if (this.#byMachine.has(machine.id)) this.#look(machine.id, isRemoved ? undefined : machine);
  }

  /** The drain of this machine, if one is open: its outcome is told by somebody else, or not at all. */
  takeDrain(machineId: string): ActionOrder | undefined {
    const open = this.#byMachine.get(machineId);
    if (open?.transit !== State.Draining) return undefined;
    this.#byMachine.delete(machineId);
    return open.order;
  }

  #look(machineId: string, machine: Machine | undefined): void {
    const open = this.#byMachine.get(machineId);
    if (open === undefined) return;
    const { order, transit, tookMs } = open;
    const outcome = executionOf(transit, order.cluster, machine);
    if (typeof outcome !== 'string') return;
    this.#byMachine.delete(machineId);
    this.#onEnded({ order, outcome, tookMs, problem: machine?.lastError ?? '' });
  }
}

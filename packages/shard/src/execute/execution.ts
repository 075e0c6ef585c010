// An order, and what became of it when its worker was done with it. A provider that takes minutes answers at
// once that it has begun, so most executions are under way then, and end when the machine does: at
// the state that the transition leads to, at Failed, or somewhere else. The end is read off the
// machine by one rule, whoever sees it: the ack, reconcile, or a question about one machine.

import type { ActionReason, ExecuteOutcome } from '@bigfleet/base';
import {
  type ActionKindCode,
  isBound,
  type Machine,
  State,
  type StateCode,
} from '@bigfleet/engine';
import type { ActionNeed } from '../engine-host/answer.ts';
import type { MachineHandle } from '../fleet/fleet.ts';

export interface UnderWay {
  /** The transitional state that the machine is in. */
  readonly underWay: StateCode;
}

export type Execution =
  | ExecuteOutcome
  | UnderWay
  /** Ended, and told, before its turn came. */
  | 'moot'
  /** The provider has no room for it now: nothing failed, and a later cycle derives it again. */
  | 'put_off';

const ends: ReadonlyMap<StateCode, StateCode> = new Map([
  [State.Creating, State.Idle],
  [State.Configuring, State.Configured],
  [State.Draining, State.Idle],
  [State.Deleting, State.Speculative],
]);

/** Of a machine that was last known in `transit` for this cluster; undefined when it is gone. */
export function executionOf(
  transit: StateCode,
  cluster: string,
  machine: Machine | undefined,
): ExecuteOutcome | UnderWay {
  if (machine === undefined) return 'stale_state';
  const { state } = machine;
  if (state === State.Failed) return 'provider_error';
  if (isBound(state) && machine.cluster !== cluster) return 'stale_state';
  if (state === transit) return { underWay: transit };
  return state === ends.get(transit) ? 'success' : 'stale_state';
}

// One action on its way to execution: everything that its executor needs, decided in one cycle
// and re-checked when it runs. The handle, not the id, says whether the machine is still the one
// that was decided about.

export interface ActionOrder {
  readonly kind: ActionKindCode;
  readonly handle: MachineHandle;
  readonly machineId: string;
  /** Destination of acquisitions, source of drains, empty for Delete. */
  readonly cluster: string;
  /** What is served; undefined for Reclaim and Delete. */
  readonly need: ActionNeed | undefined;
  readonly graceSeconds: number;
  /** 0 on a voluntary reclaim. */
  readonly preemptorPriority: number;
  readonly reason: ActionReason;
  readonly cycle: number;
  /** The operator's part is over: only the provider call of a drain is left. */
  readonly isDrainDue?: boolean;
}

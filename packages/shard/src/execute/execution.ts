// What became of an order when its worker was done with it. A provider that takes minutes answers at
// once that it has begun, so most executions are under way then, and end when the machine does: at
// the state that the transition leads to, at Failed, or somewhere else. The end is read off the
// machine by one rule, whoever sees it: the ack, reconcile, or a question about one machine.

import type { ExecuteOutcome } from '@bigfleet/base';
import { isBound, type Machine, State, type StateCode } from '@bigfleet/engine';

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

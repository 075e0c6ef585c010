// Whose the machines are, as the fleet asks it: what may enter, what is withheld from decisions, what
// may be acted on. Without a gate everything that a provider lists is ours.

import type { ActionKindCode, Machine, Withheld } from '@bigfleet/engine';

export interface FleetGate {
  /** Whether a machine that the fleet does not know may enter it. */
  mayEnter(machine: Machine): boolean;
  /** Whether a known machine, as it is now, stays. Not asked while an action is under way. */
  mayStay(machine: Machine): boolean;
  /** From every pool and phase of the engine; undefined: none. */
  withheldOf(machine: Machine): Withheld | undefined;
  /** Asked last, when an action is about to be queued: the decision may be older than the rule. */
  mayAct(machine: Machine, kind: ActionKindCode): boolean;
}

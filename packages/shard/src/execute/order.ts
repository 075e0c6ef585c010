// One action on its way to execution: everything that its executor needs, decided in one cycle
// and re-checked when it runs. The handle, not the id, says whether the machine is still the one
// that was decided about.

import type { ActionReason } from '@bigfleet/base';
import type { ActionKindCode } from '@bigfleet/engine';
import type { ActionNeed } from '../engine-host/answer.ts';
import type { MachineHandle } from '../fleet/fleet.ts';

export interface ActionOrder {
  readonly kind: ActionKindCode;
  readonly handle: MachineHandle;
  readonly machineId: string;
  /** Destination of acquisitions, source of drains, empty for Delete. */
  readonly cluster: string;
  /** What is served; undefined for Reclaim and Delete. */
  readonly need: ActionNeed | undefined;
  readonly graceSeconds: number;
  readonly preemptorPriority: number;
  readonly reason: ActionReason;
  readonly cycle: number;
  /** The operator's part is over: only the provider call of a drain is left. */
  readonly isDrainDue?: boolean;
}

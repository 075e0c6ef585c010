// What follows from an applied change of a machine, in a fixed order: the index of bound machines,
// the operator's update, the drain that may have become moot, the latencies.
//
// A machine that vanished while it was bound is told to its owner as Failed: silence would leave its
// node record where it was, for ever.

import type { Runtime } from '@bigfleet/base';
import { isLegalTransition, State, stateName } from '@bigfleet/engine';
import { createSampledMessage, type Logger, type LogMessage } from '@bigfleet/telemetry';
import type { NodeChange } from '../fleet/node-change.ts';
import type { NodeStates } from '../nodes/node-states.ts';
import type { BoundMachineIndex } from './bound-machines.ts';

const JUMPS_PER_SECOND = 10;
const GONE = 'machine gone: its provider lists it no more';

/** A provider moved a machine along no edge that our actions walk. */
const outOfBand: LogMessage<'machine' | 'from' | 'to' | 'cluster', 'err'> = {
  level: 'warn',
  text: 'provider changed a machine out of band',
};

export interface NodeNoticesOptions {
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly bound: BoundMachineIndex;
  readonly nodeStates: NodeStates;
  readonly leaveDrain: (machineId: string) => void;
  readonly measure: (change: NodeChange) => void;
}

export interface NodeNotices {
  changed(change: NodeChange): void;
  close(): void;
}

export function createNodeNotices(options: NodeNoticesOptions): NodeNotices {
  const { runtime, logger, bound, nodeStates, leaveDrain, measure } = options;
  const jumps = createSampledMessage({
    runtime,
    logger,
    message: outOfBand,
    perSecond: JUMPS_PER_SECOND,
  });
  return {
    changed: (change) => {
      const { machine, from, isRemoved } = change;
      bound.changed(change);
      tellOperator(nodeStates, change);
      if (from === State.Draining && (isRemoved || machine.state !== State.Draining)) {
        leaveDrain(machine.id);
      }
      measure(change);
      if (from === undefined || isRemoved || from === machine.state) return;
      if (isLegalTransition(from, machine.state)) return;
      jumps.log({
        machine: machine.id,
        from: stateName(from),
        to: stateName(machine.state),
        cluster: change.cluster,
        err: machine.lastError,
      });
    },
    close: () => jumps.close(),
  };
}

function tellOperator(nodeStates: NodeStates, change: NodeChange): void {
  const { machine, isRemoved, previousCluster } = change;
  // Most machines of a first List concern nobody.
  if (machine.cluster === '' && previousCluster === '') return;
  if (!isRemoved) return nodeStates.changed(machine, previousCluster);
  const last = { ...machine, state: State.Failed, cluster: '', lastError: GONE };
  nodeStates.changed(last, previousCluster);
}

// Where each frame of the shard goes. Everything here returns at once: the receive loop never waits
// for the cluster, or a storm of node states would delay the bootstrap requests behind it on the same
// stream. Frames that make no sense are logged and left alone; the stream stays.

import { BigFleetError, unreachable } from '@bigfleet/base';
import type {
  Acknowledgement,
  AvailableCapacityUpdate,
  NodeStateUpdate,
  ReclaimInstruction,
  ShardMessage,
} from '@bigfleet/wire';
import { answerBootstrap } from './bootstrap.ts';
import type { Outbound } from './outbound.ts';
import type { ResyncSweep } from './resync-sweep.ts';
import type { SampledMessage } from '@bigfleet/telemetry';
import type { Acknowledger } from './acknowledger.ts';
import type { OperatorContext } from './context.ts';
import type { KeyedLane } from './lanes.ts';
import type { Reclaims } from './reclaims.ts';
import type { RollupBuilder } from './rollup-builder.ts';

export interface DispatchTarget {
  readonly services: SessionServices;
  readonly outbound: Pick<Outbound, 'reply'>;
  readonly sweep: Pick<ResyncSweep, 'sawMachine' | 'sawHint'>;
  readonly onAcknowledgement: (ack: Acknowledgement) => void;
  /** A state of a machine of this cluster. */
  readonly onNodeState: (update: NodeStateUpdate) => void;
  /** The session cannot go on; a new one with its replay is the cure. */
  readonly onOverrun: (error: BigFleetError) => void;
}

export function dispatch({ payload }: ShardMessage, target: DispatchTarget): void {
  const { services, outbound } = target;
  switch (payload.case) {
    case 'ack':
      target.onAcknowledgement(payload.value);
      return;
    case 'bootstrapRequest': {
      // It is on its way here, and its first state comes only after the blob.
      const { machineId } = payload.value;
      if (machineId !== '') target.sweep.sawMachine(machineId);
      const tellFailed = (id: string, err: string): void =>
        services.dispatchFailed.log({ frame: 'bootstrap_request', id, err });
      outbound.reply(answerBootstrap(payload.value, services, tellFailed));
      return;
    }
    case 'reclaimInstruction':
      instruct(payload.value, services);
      return;
    case 'nodeStateUpdate':
      nodeState(payload.value, target);
      return;
    case 'availableCapacity':
      hint(payload.value, target);
      return;
    case undefined:
      services.dispatchFailed.log({ frame: 'unknown', err: 'no payload that this version knows' });
      return;
    default:
      unreachable(payload);
  }
}

function instruct(instruction: ReclaimInstruction, services: SessionServices): void {
  const { instructionId: id } = instruction;
  if (services.reclaims.instruct(instruction) === 'accepted') return;
  services.dispatchFailed.log({ frame: 'reclaim_instruction', id, err: 'too many at once' });
}

function nodeState(update: NodeStateUpdate, target: DispatchTarget): void {
  const { services, sweep, onOverrun } = target;
  const { machineId: machine, clusterId } = update;
  const isForeign = clusterId !== '' && clusterId !== services.clusterId;
  if (machine === '' || isForeign) {
    const err = isForeign ? 'names another cluster' : 'names no machine';
    services.dispatchFailed.log({ frame: 'node_state', machine, err });
    return;
  }
  sweep.sawMachine(machine);
  target.onNodeState(update);
  if (services.nodeStates.push(machine, update) === 'refused') onOverrun(overrun('machines'));
}

/** A hint without key could never be replaced or swept. */
function hint(update: AvailableCapacityUpdate, target: DispatchTarget): void {
  const { supersedesKey } = update;
  if (supersedesKey === '') return;
  const { services, sweep, onOverrun } = target;
  sweep.sawHint(supersedesKey);
  if (services.hints.push(supersedesKey, update) === 'refused') onOverrun(overrun('hints'));
}

function overrun(what: string): BigFleetError {
  return new BigFleetError('session_overrun', `too many distinct ${what} wait to be written`);
}

/**
 * What all sessions of one operator share. Sessions come and go; writes to the cluster, drains and
 * acknowledgements go on between them.
 */
export interface SessionServices extends OperatorContext {
  readonly dispatchFailed: SampledMessage<'frame' | 'err', 'machine' | 'id'>;
  readonly nodeStates: KeyedLane<NodeStateUpdate>;
  readonly hints: KeyedLane<AvailableCapacityUpdate>;
  readonly reclaims: Reclaims;
  readonly acknowledger: Acknowledger;
  readonly rollups: RollupBuilder;
}

// What a single answer of a provider (an ack, a Get) says about a machine, as a record that the
// fleet takes. The same rules as for a List: screened once, stamps kept while bound and cleared
// with the binding, the known capacity type where a transitional record has none.

import { err, type MachineRefusal, ok, type Result } from '@bigfleet/base';
import {
  type Assignment,
  decodeShardMetadata,
  isBound,
  type Machine,
  machineProblem,
  noAssignment,
  noResources,
  parseResources,
  State,
  type StateCode,
} from '@bigfleet/engine';
import { fromMap } from '@bigfleet/wire';
import type { ReportedMachine } from '../provider/provider.ts';
import { isTooLongMachine, isTooLongShape } from '../provider/text-limits.ts';

export function machineOfReport(
  reported: ReportedMachine,
  known: Machine,
): Result<Machine, MachineRefusal> {
  const provided = reported.allocatable.size === 0 ? reported.resources : reported.allocatable;
  const allocatable = parseResources(provided, 'allocatable');
  if (!allocatable.ok || reported.id !== known.id) return err('structural');
  if (isTooLongMachine(reported) || isTooLongShape(reported)) return err('structural');
  const state = reported.state as StateCode;
  const machine: Machine = {
    id: known.id,
    state,
    provider: known.provider,
    host: reported.host,
    cluster: reported.cluster,
    instanceType: reported.instanceType,
    zone: reported.zone,
    capacityType: reported.capacityType === 0 ? known.capacityType : reported.capacityType,
    labels: reported.labels,
    allocatable: allocatable.value,
    pricePerHour: reported.pricePerHour,
    interruptionProbability: reported.interruptionProbability,
    lastError: reported.lastError,
    assigned: stampsOf(reported, known, state),
    intendedCluster: state === State.Creating ? known.intendedCluster : '',
    withheld: known.withheld,
  };
  const problem = machineProblem(machine);
  return problem === undefined ? ok(machine) : err(problem);
}

/** Of a machine that the fleet does not know yet. */
export function machineOfNewReport(
  reported: ReportedMachine,
  provider: string,
): Result<Machine, MachineRefusal> {
  if (reported.state === 0 || reported.capacityType === 0) return err('structural');
  return machineOfReport(reported, {
    ...reported,
    state: State.Speculative,
    capacityType: reported.capacityType,
    provider,
    allocatable: noResources,
    assigned: noAssignment,
    intendedCluster: '',
    withheld: undefined,
  });
}

function stampsOf(reported: ReportedMachine, known: Machine, state: StateCode): Assignment {
  if (state === State.Creating) return known.assigned;
  if (!isBound(state)) return noAssignment;
  const isSameBinding = isBound(known.state) && known.cluster === reported.cluster;
  const before = isSameBinding ? known.assigned : noAssignment;
  return decodeShardMetadata(fromMap(reported.shardMetadata), before).assigned;
}

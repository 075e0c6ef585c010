// One CapacityRequest as demand: its aggregation key (profile and group) and its vector, or why it
// is refused. The vector is not part of the key: keys per shape once made the engine credit a shared
// machine several times over (kubernetes §3.3). Canonical form and fingerprint are the engine's, so
// that both sides of the wire spell a profile the same way.

import { err, ok, type Result } from '@bigfleet/base';
import { createProfile, Operator, type Profile, type Requirement } from '@bigfleet/engine';
import type { CoLocation } from '@bigfleet/kube';
import { type CapacityRequest, type Refusal, shown } from './capacity-request.ts';
import { groupOf } from './co-location.ts';
import { readSpec } from './read-spec.ts';
import { bucketOfPenalty, isInt32, readRequirements, readSpread } from './terms.ts';
import { parseVector, type ResourceVector } from './resource-vector.ts';

export interface RequestDemand {
  readonly profile: Profile;
  /** Empty without co-location. */
  readonly group: string;
  readonly vector: ResourceVector;
}

export function readRequest({
  namespace,
  spec: stored,
}: Pick<CapacityRequest, 'namespace' | 'spec'>): Result<RequestDemand, Refusal> {
  const read = readSpec(stored);
  if (!read.ok) return read;
  const spec = read.value;
  const requirements = readRequirements(spec.requirements ?? []);
  if (!requirements.ok) return requirements;
  const spread = readSpread(spec.topologySpread ?? []);
  if (!spread.ok) return spread;
  const interruption = bucketOfPenalty('interruptionPenalty', spec.interruptionPenalty);
  if (!interruption.ok) return interruption;
  const reclamation = bucketOfPenalty('reclamationPenalty', spec.reclamationPenalty);
  if (!reclamation.ok) return reclamation;
  const vector = parseVector(spec.resources);
  if (!vector.ok) return vector;
  if (!isInt32(spec.priority)) {
    return err({ reason: 'bad_quantity', problem: `priority ${shown(spec.priority)} is no int32` });
  }
  const gang = gangOf(spec.coLocation);
  const profile = createProfile({
    requirements: [...requirements.value, ...sameOf(gang)],
    spread: spread.value,
    priority: spec.priority,
    interruptionBucket: interruption.value,
    reclamationBucket: reclamation.value,
  });
  const group = gang === undefined ? '' : groupOf(namespace, gang);
  return ok({ profile, group, vector: vector.value });
}

/** A term without topology key co-locates nothing. */
function gangOf(coLocation: CoLocation | undefined): CoLocation | undefined {
  return coLocation === undefined || coLocation.topologyKey === '' ? undefined : coLocation;
}

function sameOf(gang: CoLocation | undefined): Requirement[] {
  if (gang === undefined) return [];
  return [{ key: gang.topologyKey, operator: Operator.Same, values: [] }];
}

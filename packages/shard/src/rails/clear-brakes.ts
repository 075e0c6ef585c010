// Forgetting by hand what the brake on machines that never join has learnt (adr 0085). Whoever
// mended an image need not wait for the next probe. Needs and types are two selections: a request
// that names both would clear more than either half says, so it is refused, and so is one that names
// nothing without saying `all`.

import { BigFleetError, err, ok, type Result } from '@bigfleet/base';
import type { BrakedNeed, BrakedType, ConfigureBrake } from '@bigfleet/engine';
import type { ClearBrakesRequest } from '@bigfleet/wire';

export interface ClearBrakesOptions {
  /** Undefined when the rail is off. */
  readonly brake: Pick<ConfigureBrake, 'clear'> | undefined;
  /** Asks for a cycle: what was held off may be tried at once. */
  readonly wake: () => void;
}

/** Empty is any. */
export type BrakeSelection = Omit<ClearBrakesRequest, '$typeName' | '$unknown' | 'reason'>;

/** How many needs and types were forgotten. */
export function clearBrakes(
  { brake, wake }: ClearBrakesOptions,
  selection: BrakeSelection,
  reason: string,
): number {
  if (reason.trim() === '') throw new BigFleetError('reason_missing', 'a reason is required');
  const matches = matcherOf(selection);
  if (!matches.ok) throw new BigFleetError('brake_selection_invalid', matches.error);
  if (brake === undefined) {
    throw new BigFleetError('configure_brake_off', 'the shard runs with --configure-brake=false');
  }
  const clearedCount = brake.clear(matches.value);
  if (clearedCount > 0) wake();
  return clearedCount;
}

type Matcher = (subject: BrakedNeed | BrakedType) => boolean;

function matcherOf(selection: BrakeSelection): Result<Matcher, string> {
  const { clusterId, profileFingerprint, provider, instanceType, all } = selection;
  const isOfNeeds = clusterId !== '' || profileFingerprint !== '';
  const isOfTypes = provider !== '' || instanceType !== '';
  if (isOfNeeds && isOfTypes) return err('name needs or types, not both');
  if (all) return isOfNeeds || isOfTypes ? err('name some or all, not both') : ok(() => true);
  if (isOfNeeds) {
    return ok(
      (subject) =>
        'cluster' in subject &&
        isAsked(clusterId, subject.cluster) &&
        isAsked(profileFingerprint, subject.fingerprint),
    );
  }
  if (!isOfTypes) return err('name a cluster, a profile, a provider or a type, or all');
  return ok(
    (subject) =>
      'provider' in subject &&
      isAsked(provider, subject.provider) &&
      isAsked(instanceType, subject.instanceType),
  );
}

function isAsked(asked: string, value: string): boolean {
  return asked === '' || asked === value;
}

// MachineSelector from the wire, screened: a quantity or an operator that cannot be read refuses the
// instruction, because a selector that means less than was said would move machines nobody asked for.

import { decodePenaltyBucket, err, ok, type Result } from '@bigfleet/base';
import { isOperatorCode, parseResources, type Requirement, type Resources } from '@bigfleet/engine';
import type { MachineSelector } from '@bigfleet/shard';
import {
  type MachineSelector as WireSelector,
  type Resources as WireResources,
  toMap,
} from '@bigfleet/wire';

export function selectorFromWire(wire: WireSelector | undefined): Result<MachineSelector, string> {
  if (wire === undefined) return err('it has no selector');
  const requirements: Requirement[] = [];
  for (const { key, operator, values } of wire.requirements) {
    const code: number = operator;
    if (!isOperatorCode(code)) return err(`requirement ${key} has operator ${code}`);
    requirements.push({ key, operator: code, values: [...values] });
  }
  const deficit = resourcesFromWire(wire.deficit, 'deficit');
  if (!deficit.ok) return deficit;
  const minUnit = resourcesFromWire(wire.minUnit, 'min_unit');
  if (!minUnit.ok) return minUnit;
  const bucket = decodePenaltyBucket(wire.interruptionPenaltyBucket);
  if (bucket === undefined) return err(`bucket ${wire.interruptionPenaltyBucket}`);
  return ok({
    instanceType: wire.instanceType,
    zone: wire.zone,
    count: wire.count,
    requirements,
    deficit: deficit.value,
    minUnit: minUnit.value,
    providerAddress: wire.providerAddress,
    interruptionBucket: wire.interruptionPenaltyBucket === 0 ? undefined : bucket,
  });
}

function resourcesFromWire(
  wire: WireResources | undefined,
  field: string,
): Result<Resources, string> {
  const parsed = parseResources(toMap(wire?.resources ?? {}), 'demand');
  return parsed.ok ? parsed : err(`${field}: ${parsed.error.code}`);
}

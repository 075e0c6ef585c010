// What one record must look like, as findings in words; undefined when there is none.

import { parseQuantity } from '@bigfleet/base';
import type { MachineView } from '../../harness/machine.ts';

/**
 * Fields that belong at the top level: the hot path does not look for them in labels
 * (provider-contract §8).
 */
const leakKeys: readonly string[] = [
  'instance-type',
  'instance_type',
  'instanceType',
  'zone',
  'availability-zone',
  'availability_zone',
  'capacity-type',
  'capacity_type',
  'capacityType',
];

export function identityFinding(machine: MachineView): string | undefined {
  const { id, state, instanceType, labels } = machine;
  if (id === '') return 'a record has no id';
  if (state === 'UNSPECIFIED' || state === 'UNRECOGNISED') return `${id}: state is ${state}`;
  if (instanceType === '') return `${id} (${state}): instance_type is empty`;
  const leaked = leakKeys.find((key) => labels.has(key));
  return leaked === undefined ? undefined : `${id}: label ${leaked} repeats a top-level field`;
}

export function costFinding(machine: MachineView): string | undefined {
  const { id, pricePerHour, interruptionProbability, capacityType } = machine;
  if (!Number.isFinite(pricePerHour) || pricePerHour < 0) {
    return `${id}: price_per_hour is ${pricePerHour}, expected a finite number ≥ 0`;
  }
  if (!(interruptionProbability >= 0 && interruptionProbability <= 1)) {
    return `${id}: interruption_probability is ${interruptionProbability}, expected 0 to 1`;
  }
  if (capacityType === 'SPOT' && interruptionProbability === 0) {
    return `${id}: interruption_probability of a SPOT machine is 0`;
  }
  return undefined;
}

/**
 * Host and cluster by state (provider-contract §2.1): judged for the three states of a machine in
 * service.
 */
export function hostAndClusterFinding(machine: MachineView): string | undefined {
  const { id, state, host, cluster } = machine;
  const expected = expectations.get(state);
  if (expected === undefined) return undefined;
  if ((host !== undefined) !== expected.host) {
    return `${id} (${state}): ${expected.host ? 'has no host' : 'has a host'}`;
  }
  if ((cluster !== '') !== expected.cluster) {
    return `${id} (${state}): cluster is ${JSON.stringify(cluster)}`;
  }
  return undefined;
}

const expectations: ReadonlyMap<
  MachineView['state'],
  { readonly host: boolean; readonly cluster: boolean }
> = new Map([
  ['SPECULATIVE', { host: false, cluster: false }],
  ['IDLE', { host: true, cluster: false }],
  ['CONFIGURED', { host: true, cluster: true }],
]);

export function placementFinding(machine: MachineView): string | undefined {
  const { id, state, zone, capacityType } = machine;
  if (capacityType === 'UNSPECIFIED' || capacityType === 'UNRECOGNISED') {
    return `${id} (${state}): capacity_type is ${capacityType}`;
  }
  return zone === '' ? `${id} (${state}): zone is empty` : undefined;
}

/** floor(allocatable / resources) must be computable for every dimension that both maps name. */
export function densityFinding(machine: MachineView): string | undefined {
  const { id, resources, allocatable } = machine;
  if (resources === undefined || allocatable === undefined) return undefined;
  for (const [name, text] of resources) {
    const supply = allocatable.get(name);
    if (supply === undefined) continue;
    const finding =
      quantityFinding(text, 'above 0', (nanos) => nanos > 0n) ??
      quantityFinding(supply, 'not negative', (nanos) => nanos >= 0n);
    if (finding !== undefined) return `${id}: ${name} is ${finding}`;
  }
  return undefined;
}

function quantityFinding(
  text: string,
  rule: string,
  isLegal: (nanos: bigint) => boolean,
): string | undefined {
  const parsed = parseQuantity(text);
  if (!parsed.ok) return `${JSON.stringify(text)}, which is no quantity`;
  return isLegal(parsed.value.nanos) ? undefined : `${JSON.stringify(text)}, expected ${rule}`;
}

// What must be true of every decision, checked from the outside: nothing is claimed twice, claims
// cover what is said to be covered, and every acquisition is backed by a claim.

import { ActionKind, add, covers, type Machine, noResources, subtract } from '@bigfleet/engine';
import type { StepResult } from '../../step.ts';

/** Every violation, in words; none for a sound decision. */
export function decisionViolations({ input, output }: StepResult): string[] {
  const { actions, claims, verdicts } = output;
  const found: string[] = [];
  const byId = new Map(input.machines.map((machine) => [machine.id, machine]));
  const claimed = new Map<number, Machine[]>();
  for (const [id, index] of claims) {
    const machine = byId.get(id);
    if (machine === undefined || verdicts[index] === undefined) {
      found.push(`${id} is claimed by need ${index}, and one of the two does not exist`);
      continue;
    }
    claimed.set(index, [...(claimed.get(index) ?? []), machine]);
  }
  verdicts.forEach(({ need, claimedCount, deficit, satisfied }, index) => {
    const machines = claimed.get(index) ?? [];
    const held = machines.map(({ allocatable }) => allocatable).reduce(add, noResources);
    const name = `need ${index} of ${need.cluster}`;
    // Counted once per need and once per machine: a difference is a machine claimed twice.
    if (machines.length !== claimedCount) found.push(`${name} says ${claimedCount} claims`);
    if (!covers(held, subtract(need.aggregate, deficit))) found.push(`${name} claims too little`);
    if (satisfied !== (deficit.size === 0)) found.push(`${name} is satisfied with a deficit`);
  });
  for (const { kind, machineId } of actions) {
    const isAcquisition = kind === ActionKind.Bootstrap || kind === ActionKind.Provision;
    // A preempted machine may be claimed by the one who loses it; nothing else that goes may be.
    const isRelease = kind === ActionKind.Reclaim || kind === ActionKind.Delete;
    if (isAcquisition && !claims.has(machineId)) found.push(`${machineId} is acquired for nobody`);
    if (isRelease && claims.has(machineId)) found.push(`${machineId} is claimed and let go`);
  }
  return found;
}

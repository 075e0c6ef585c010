// The shard as its live feed tells it: a snapshot, then one delta per cycle. Nothing is inferred from
// counters. A snapshot replaces everything; it counts only when its end has come with the totals
// that it announced, because half a snapshot looks like a shrunken fleet.

import { BigFleetError } from '@bigfleet/base';
import type { CycleDelta, MachineView, NeedView, WatchFrame } from '@bigfleet/wire';

export function needKey(cluster: string, fingerprint: string, group: string): string {
  return JSON.stringify([cluster, fingerprint, group]);
}

export class FleetPicture {
  readonly machines: Map<string, MachineView> = new Map();
  /** By `needKey`. */
  readonly needs: Map<string, NeedView> = new Map();
  cycle = 0;
  dollarsPerHour = 0;
  shortfallCount = 0;
  #isComplete = false;

  /** A snapshot has been taken in whole. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** True when a cycle's state is complete after this frame. */
  apply({ frame }: WatchFrame): boolean {
    switch (frame.case) {
      case 'hello':
        this.cycle = Number(frame.value.cycle);
        if (!frame.value.resumed) this.#clear();
        return false;
      case 'snapshot':
        for (const machine of frame.value.machines) this.machines.set(machine.machineId, machine);
        for (const need of frame.value.needs) this.#putNeed(need);
        return false;
      case 'snapshotEnd':
        this.#check(frame.value);
        this.#isComplete = true;
        return true;
      case 'lagged':
        this.#clear();
        return false;
      case 'delta':
        this.#applyDelta(frame.value);
        return this.#isComplete;
      default:
        return false;
    }
  }

  #applyDelta(delta: CycleDelta): void {
    this.cycle = Number(delta.cycle);
    this.dollarsPerHour = delta.dollarsPerHour;
    this.shortfallCount = delta.shortfalls;
    for (const machine of delta.machinesChanged) this.machines.set(machine.machineId, machine);
    for (const machineId of delta.machinesRemoved) this.machines.delete(machineId);
    for (const need of delta.needsChanged) this.#putNeed(need);
    for (const { clusterId, profileFingerprint, group } of delta.needsRemoved) {
      this.needs.delete(needKey(clusterId, profileFingerprint, group));
    }
  }

  #putNeed(view: NeedView): void {
    const key = needKey(view.clusterId, view.profileFingerprint, view.need?.group ?? '');
    this.needs.set(key, view);
  }

  #clear(): void {
    this.machines.clear();
    this.needs.clear();
    this.#isComplete = false;
  }

  #check(end: { readonly machines: number; readonly needs: number }): void {
    const { machines, needs } = this;
    if (machines.size === end.machines && needs.size === end.needs) return;
    throw new BigFleetError(
      'internal',
      `the feed's snapshot holds ${machines.size} machines and ${needs.size} needs, ` +
        `but announced ${end.machines} and ${end.needs}`,
    );
  }
}

// A shard reduced to what decides ownership: it reports, takes assignments and domain notices as the
// shard client does, and says on which machines it would act (coordinator §9.2). Slow on purpose where
// a real one is: a lost domain or provider is held for a few more reports.

import { fromMap, type ReportAck, type ShardAssignment } from '@bigfleet/wire';
import type { ReportInit } from './report-world.ts';

const KEY = 'zone';

interface Dialled {
  readonly name: string;
  readonly isShared: boolean;
  /** Reports until it lets go; undefined while it is assigned. */
  readonly leavesIn: number | undefined;
}

export class ModelShard {
  readonly id: string;
  readonly #slowness: () => number;
  readonly #releasing = new Map<string, number>();
  #epoch = 1n;
  #cycle = 0n;
  #term = 0n;
  #revision = 0n;
  #generation = 0n;
  #isAsked = false;
  #domains = new Set<string>();
  #foreign = new Set<string>();
  #unmatched = new Set<string>();
  #providers = new Map<string, Dialled>();

  /** `slowness` gives the reports for which a lost thing is still held. */
  constructor(id: string, slowness: () => number) {
    this.id = id;
    this.#slowness = slowness;
  }

  report(): ReportInit {
    this.#cycle++;
    this.#age();
    const providers = [...this.#providers].map(([address, dialled]) => ({
      name: dialled.name,
      address,
      shared: dialled.isShared,
      source: 'registry',
      totalMachines: 1,
    }));
    const registry = [...this.#providers].filter(([, { leavesIn }]) => leavesIn === undefined);
    const held = {
      heldDomains: [...this.#domains].map(refOf),
      heldProviders: registry.map(([address, { name, isShared }]) => ({
        name,
        address,
        region: 'r',
        shared: isShared,
      })),
    };
    return {
      shardEpoch: this.#epoch,
      cycle: this.#cycle,
      observedCoordinatorTerm: this.#term,
      assignmentRevision: this.#revision,
      providerShared: providers.some(({ shared }) => shared),
      summary: { providers, perZoneCounts: fromMap(new Map<string, number>()) },
      releasingDomains: [...this.#releasing.keys()].map(refOf),
      ...(this.#isAsked ? held : {}),
    };
  }

  hear(ack: ReportAck): void {
    this.#term = ack.coordinatorTerm;
    if (!ack.acknowledged) return;
    this.#isAsked = ack.sendHeld;
    if (ack.assignment !== undefined) this.#take(ack.assignment);
  }

  /** Keeps its disk: assignment, providers, term. */
  restart(): void {
    this.#epoch++;
    this.#cycle = 0n;
    this.#isAsked = false;
  }

  isActing(address: string, zone: string): boolean {
    const dialled = this.#providers.get(address);
    if (dialled === undefined) return false;
    if (!dialled.isShared) return true;
    if (this.#domains.has(zone) || this.#releasing.has(zone)) return true;
    return !this.#foreign.has(zone) && this.#unmatched.has(address);
  }

  #take(assignment: ShardAssignment): void {
    if (assignment.ledgerGeneration < this.#generation) return;
    this.#generation = assignment.ledgerGeneration;
    this.#revision = assignment.revision;
    const zones = assignment.domains.map(({ topologyValue }) => topologyValue);
    for (const zone of zones) this.#gain(zone);
    for (const { name, address, shared: isShared } of assignment.providers) {
      this.#providers.set(address, { name, isShared, leavesIn: undefined });
    }
    for (const address of assignment.ownsUnmatchedProviders) this.#unmatched.add(address);
    if (!assignment.complete) return;
    const owned = new Set(zones);
    for (const zone of this.#domains) if (!owned.has(zone)) this.#lose(zone);
    this.#foreign = new Set(assignment.foreignDomains.map(({ topologyValue }) => topologyValue));
    this.#unmatched = new Set(assignment.ownsUnmatchedProviders);
    this.#retireAllBut(new Set(assignment.providers.map(({ address }) => address)));
  }

  #retireAllBut(addresses: ReadonlySet<string>): void {
    for (const [address, dialled] of this.#providers) {
      if (addresses.has(address) || dialled.leavesIn !== undefined) continue;
      this.#providers.set(address, { ...dialled, leavesIn: this.#slowness() });
    }
  }

  #gain(zone: string): void {
    this.#domains.add(zone);
    this.#releasing.delete(zone);
  }

  #lose(zone: string): void {
    if (this.#domains.delete(zone)) this.#releasing.set(zone, this.#slowness());
  }

  #age(): void {
    for (const [zone, left] of this.#releasing) {
      if (left === 0) this.#releasing.delete(zone);
      else this.#releasing.set(zone, left - 1);
    }
    for (const [address, dialled] of this.#providers) {
      if (dialled.leavesIn === undefined) continue;
      if (dialled.leavesIn === 0) this.#providers.delete(address);
      else this.#providers.set(address, { ...dialled, leavesIn: dialled.leavesIn - 1 });
    }
  }
}

function refOf(zone: string): { topologyKey: string; topologyValue: string } {
  return { topologyKey: KEY, topologyValue: zone };
}

// The laws of ownership, looked at after every durable step of a shard and every round of the sagas:
// no machine that two shards may act on (a dead shard counts by its disk: it may wake up), none taken
// from a shard that has work on it, no slices
// above the declared quota, no machine that moves twice within its cooldown. At the end: no machine
// without an owner, no transfer that neither finished nor rolled back.

import type { FleetView } from '@bigfleet/coordinator';
import type { MachinePark } from './machine-park.ts';
import type { FleetShard } from './fleet-shard.ts';

export const DECLARED_QUOTA = 20;
/** Eight report intervals, as short as they look when the first of two reports came late. */
const COOLDOWN_MS = 8 * 7_000;

export class Violation extends Error {}

export class Judge {
  readonly #park: MachinePark;
  readonly #shards: readonly FleetShard[];
  readonly #moved = new Map<string, { readonly atMs: number; readonly term: bigint }>();
  readonly #seen = new Set<string>();
  /**
   * After a restore slices come back by hand (coordinator §10.4): what shards apply is not the
   * ledger's.
   */
  isRestored = false;
  commitCount = 0;
  abortCount = 0;
  #violation: Violation | undefined;

  constructor(park: MachinePark, shards: readonly FleetShard[]) {
    this.#park = park;
    this.#shards = shards;
  }

  get violation(): Violation | undefined {
    return this.#violation;
  }

  looksAtShards(): void {
    for (const id of this.#park.ids) {
      // Nobody can act on a machine that is no more, whatever a ledger says about it.
      if (this.#park.stateOf(id) === 'gone') continue;
      const owners = this.#shards.filter((shard) => shard.mayAct(id)).map((shard) => shard.id);
      const user = this.#park.userOf(id);
      if (user !== undefined && !owners.includes(user)) this.#found(`${user} lost ${id} in use`);
      if (owners.length > 1) this.#found(`${owners.join(' and ')} may both act on ${id}`);
    }
    const slices = this.#shards.reduce((sum, { slice }) => sum + (slice ?? 0), 0);
    if (!this.isRestored && slices > DECLARED_QUOTA) this.#found(`slices of ${slices} are applied`);
  }

  looksAtLedger(state: FleetView, term: bigint, nowMs: number): void {
    for (const { provider, slices } of state.quotas()) {
      const sum = slices.reduce((total, { slice }) => total + slice, 0);
      if (sum > DECLARED_QUOTA) this.#found(`slices of ${provider} sum up to ${sum}`);
    }
    const own = `t-${term.toString(16).padStart(16, '0')}-`;
    for (const { id, phase, machineIds } of state.transfers()) {
      if (phase === 'PREPARING' || this.#seen.has(id) || !id.startsWith(own)) continue;
      this.#seen.add(id);
      if (phase === 'ABORTED') this.abortCount += 1;
      else this.#committed(machineIds, term, nowMs);
    }
  }

  /** Undefined: everything has come to rest as it must. */
  unrest(state: FleetView): string | undefined {
    const open = state.openTransfers()[0];
    if (open !== undefined) return `transfer ${open.id} is still ${open.phase}`;
    for (const shard of this.#shards) {
      const [frozen] = shard.frozenFor;
      if (frozen !== undefined) return `${shard.id} is still frozen for ${frozen}`;
    }
    for (const id of this.#park.ids) {
      if (this.#park.stateOf(id) === 'gone') continue;
      if (!this.#shards.some((shard) => shard.mayAct(id))) return `nobody owns ${id}`;
    }
    return undefined;
  }

  #committed(machineIds: readonly string[], term: bigint, nowMs: number): void {
    this.commitCount += 1;
    for (const id of machineIds) {
      const before = this.#moved.get(id);
      if (before?.term === term && nowMs - before.atMs < COOLDOWN_MS) {
        this.#found(`${id} moved twice within ${nowMs - before.atMs} ms`);
      }
      this.#moved.set(id, { atMs: nowMs, term });
    }
  }

  #found(problem: string): void {
    this.#violation ??= new Violation(problem);
  }
}

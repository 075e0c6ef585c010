// Keeps the fleet in line with what the shard owns. A machine of another shard never enters, and leaves as
// soon as nothing runs on it; a frozen or reserved machine is withheld from decisions; and an action that
// was decided before a rule changed is not carried out after it.
//
// A machine that is not this shard's any more but still serves (a domain being given up, a provider that
// became shared) is kept under normal rules until it is idle, because only its keeper can drain it. A
// machine that a transfer gave away is not kept: it was idle then, and work on it now is its new owner's.
// Bound: one entry of `watched` per machine that is not plainly this shard's.

import {
  ActionKind,
  type ActionKindCode,
  type Machine,
  State,
  type StateCode,
  type Withheld,
} from '@bigfleet/engine';
import type { Fleet, FleetGate } from '../fleet/fleet.ts';
import type { Ownership } from './ownership-rules.ts';
import type { OwnershipChange, OwnershipStore } from './ownership-store.ts';
import type { ProviderDirectory } from './provider-directory.ts';
import { isElastic } from './quota-remaining.ts';
import type { Reservations } from './reservations.ts';
import type { MachineOverride } from './assignment.ts';

export interface FleetKeeperOptions {
  readonly store: OwnershipStore;
  readonly reservations: Reservations;
  readonly directory: ProviderDirectory;
  /** Made later than its gate. */
  readonly fleet: () => Fleet;
}

const BUSY: ReadonlySet<StateCode> = new Set([
  State.Creating,
  State.Configuring,
  State.Configured,
  State.Draining,
  State.Deleting,
]);

export class FleetKeeper implements FleetGate {
  readonly #options: FleetKeeperOptions;
  readonly #watched = new Set<string>();

  constructor(options: FleetKeeperOptions) {
    this.#options = options;
    options.store.onChange((change) => this.#changed(change));
  }

  mayEnter(machine: Machine): boolean {
    const ownership = this.#ownership(machine);
    if (ownership === 'not_mine') return false;
    if (ownership === 'releasing') return BUSY.has(machine.state);
    return this.mayStay(machine);
  }

  mayStay(machine: Machine): boolean {
    const ownership = this.#ownership(machine);
    if (ownership === 'frozen') return true;
    if (this.#isGivenAway(machine)) return false;
    if (ownership !== 'mine') return BUSY.has(machine.state);
    return !this.#isRetiring(machine) || isWorthKeeping(machine);
  }

  withheldOf(machine: Machine): Withheld | undefined {
    const { state } = machine;
    const ownership = this.#ownership(machine);
    this.#watch(machine, ownership);
    if (ownership === 'frozen') return 'transfer_frozen';
    // Under normal rules until idle; then nothing may acquire it any more.
    if (ownership !== 'mine' || this.#isRetiring(machine)) {
      return BUSY.has(state) && !this.#isGivenAway(machine) ? undefined : 'not_owned';
    }
    return state === State.Idle && this.#isReserved(machine) ? 'transfer_reserved' : undefined;
  }

  mayAct(machine: Machine, kind: ActionKindCode): boolean {
    const ownership = this.#ownership(machine);
    if (ownership === 'frozen' || this.#isGivenAway(machine)) return false;
    const isDrain = kind === ActionKind.Reclaim || kind === ActionKind.Preempt;
    if (ownership !== 'mine') return isDrain;
    if (this.#isRetiring(machine)) return isDrain || kind === ActionKind.Delete;
    return isDrain || !this.#isReserved(machine);
  }

  /** Once a cycle: reservations expire, drains end, and machines kept for them may leave. */
  tend(): void {
    const { reservations } = this.#options;
    const fleet = this.#options.fleet();
    for (const id of reservations.ids()) {
      const slot = fleet.inventory.slotOf(id);
      if (slot >= 0 && fleet.stateOf(slot) === State.Idle)
        reservations.becameIdle(id, fleet.nowMs());
    }
    this.refresh(reservations.expire(fleet.nowMs()));
    this.refresh([...this.#watched]);
  }

  /** Judges these machines again, and marks, frees or drops them. */
  refresh(machineIds: Iterable<string>): void {
    const fleet = this.#options.fleet();
    for (const id of machineIds) {
      const slot = fleet.inventory.slotOf(id);
      if (slot < 0) this.#watched.delete(id);
      else this.#refresh(fleet, slot);
    }
  }

  /** Every machine, after a change that may concern all. Cost: a few array reads per machine. */
  refreshAll(): void {
    const fleet = this.#options.fleet();
    this.refresh([...this.#watched]);
    const { ids, columns, classes } = fleet.inventory;
    const { rules } = this.#options.store;
    const isOurs = new Map<number, boolean>();
    // Over a copy of the count: dropping machines frees slots, and never adds one.
    for (let slot = 0; slot < fleet.inventory.slotCount; slot++) {
      const id = ids[slot] ?? '';
      if (id === '') continue;
      const klass = columns.klass[slot]!;
      let isPlain = isOurs.get(klass);
      if (isPlain === undefined) {
        const shape = classes.shape(klass);
        isPlain =
          shape === undefined ||
          (!this.#isRetiring(shape) && rules.ofShape(shape, shape.provider) === 'mine');
        isOurs.set(klass, isPlain);
      }
      if (!isPlain || rules.isNamed(id)) this.#refresh(fleet, slot);
    }
  }

  /** Idle machines of retiring providers that only a Delete gives back. */
  *leftovers(): IterableIterator<number> {
    const fleet = this.#options.fleet();
    for (const id of this.#watched) {
      const slot = fleet.inventory.slotOf(id);
      if (slot < 0 || fleet.stateOf(slot) !== State.Idle || fleet.pendingOf(slot) !== 'none')
        continue;
      const machine = fleet.read(slot);
      if (this.#isRetiring(machine) && this.mayAct(machine, ActionKind.Delete)) yield slot;
    }
  }

  #refresh(fleet: Fleet, slot: number): void {
    const machine = fleet.read(slot);
    if (fleet.pendingOf(slot) === 'none' && !this.mayStay(machine)) {
      this.#watched.delete(machine.id);
      this.#options.reservations.drop(machine.id);
      return fleet.forget(machine.id);
    }
    const withheld = this.withheldOf(machine);
    if (withheld !== machine.withheld) fleet.withhold(slot, withheld);
  }

  #watch(machine: Machine, ownership: Ownership): void {
    const isPlain =
      ownership === 'mine' && !this.#isReserved(machine) && !this.#isRetiring(machine);
    if (isPlain) this.#watched.delete(machine.id);
    else this.#watched.add(machine.id);
  }

  #changed(change: OwnershipChange): void {
    if (change === 'all') this.refreshAll();
    else this.refresh(change);
  }

  #ownership(machine: Machine): Ownership {
    return this.#options.store.rules.of(machine);
  }

  #isGivenAway(machine: Machine): boolean {
    return this.#options.store.rules.isGivenAway(machine);
  }

  #isReserved({ id }: Machine): boolean {
    return this.#options.reservations.recipientOf(id) !== undefined;
  }

  #isRetiring({ provider }: Pick<Machine, 'provider'>): boolean {
    return this.#options.directory.get(provider)?.isRetiring === true;
  }
}

/** Of a retiring provider: machines that serve, and elastic ones that must still be deleted. */
function isWorthKeeping({ state, capacityType }: Machine): boolean {
  return BUSY.has(state) || (state === State.Idle && isElastic(capacityType));
}

const ABSENCES = 2;

/**
 * Notices that an adopted machine is no more (coordinator §9.6): it is a quota slot again, or absent
 * from two full Lists in a row. The shard then reports it as gone, and the ledger gives its id back to
 * domains and homes. One absence is not enough: a List may race the provider's own store.
 */
export class GoneWatch {
  /** Consecutive absences by machine id. Bound: one entry per adopted machine. */
  readonly #absences = new Map<string, number>();

  /** Those that are gone now. `hasListedAll`: every shared provider was listed in full. */
  look(
    adopted: Iterable<MachineOverride>,
    fleet: Fleet,
    hasListedAll: boolean,
  ): readonly MachineOverride[] {
    const gone: MachineOverride[] = [];
    const seen = new Set<string>();
    for (const override of adopted) {
      const { machineId } = override;
      seen.add(machineId);
      const slot = fleet.inventory.slotOf(machineId);
      if (slot >= 0) {
        this.#absences.delete(machineId);
        const isFree = fleet.pendingOf(slot) === 'none';
        if (isFree && fleet.stateOf(slot) === State.Speculative) gone.push(override);
      } else if (hasListedAll && this.#absent(machineId) >= ABSENCES) {
        gone.push(override);
      }
    }
    for (const id of this.#absences.keys()) if (!seen.has(id)) this.#absences.delete(id);
    return gone;
  }

  #absent(machineId: string): number {
    const count = (this.#absences.get(machineId) ?? 0) + 1;
    this.#absences.set(machineId, count);
    return count;
  }
}

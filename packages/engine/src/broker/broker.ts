// The one writer of claims when several workers choose machines at once: it checks a proposal
// against what is true now, then commits it or turns it away; nothing in between. The engine
// itself runs as one pass in order of precedence and never displaces anybody; this is the
// component for a multi-threaded mode, and both must satisfy the same needs.
//
// Invariants: a machine has at most one claim; it only ever passes to strictly higher precedence,
// so an equal never displaces and the first mover keeps; Σ committed − Σ displaced = claims; the
// index by need mirrors the claims. Bounds: one claim per machine, one sequence per bucket seen.

import { assert } from '@bigfleet/base';
import { comparePrecedence, type Precedence } from '../model/profile.ts';
import {
  type Bucket,
  bucketName,
  type CommitResult,
  type Displaced,
  type Proposal,
} from './proposal.ts';

interface Claim {
  readonly need: number;
  readonly precedence: Precedence;
  /** Of the need when it claimed: what a displacement counts down. */
  readonly budget: number;
}

/** Every proposed machine, judged before anything changes. */
interface Plan {
  readonly fresh: number[];
  readonly displaceable: number[];
  readonly immovable: number[];
}

export class Broker {
  readonly #claims = new Map<number, Claim>();
  readonly #machinesOf = new Map<number, Set<number>>();
  readonly #sequences = new Map<string, number>();
  #committedCount = 0;
  #displacedCount = 0;

  get claimCount(): number {
    return this.#claims.size;
  }

  /** Machines committed so far, taken-over ones included. */
  get committedCount(): number {
    return this.#committedCount;
  }

  /** Machines taken from a need so far. */
  get displacedCount(): number {
    return this.#displacedCount;
  }

  /** To be read before machines are chosen, and carried in the proposal. */
  sequenceOf(bucket: Bucket): number {
    return this.#sequences.get(bucketName(bucket)) ?? 0;
  }

  /** The need that holds the machine, or −1. */
  holderOf(machine: number): number {
    return this.#claims.get(machine)?.need ?? -1;
  }

  machinesOf(need: number): ReadonlySet<number> {
    return this.#machinesOf.get(need) ?? noMachines;
  }

  /** Whether a need of this precedence could have the machine: free, or held by a lower one. */
  isClaimable(machine: number, precedence: Precedence): boolean {
    const claim = this.#claims.get(machine);
    return claim === undefined || comparePrecedence(precedence, claim.precedence) > 0;
  }

  submit(proposal: Proposal): CommitResult {
    if (proposal.observedSequence !== this.sequenceOf(proposal.bucket)) {
      return conflict(proposal, 'stale_sequence');
    }
    const plan = this.#plan(proposal);
    if (proposal.mode === 'all-or-nothing' && plan.immovable.length > 0) {
      return conflict(proposal, 'immovable');
    }
    if (plan.fresh.length + plan.displaceable.length === 0) {
      return conflict(proposal, 'nothing_to_claim');
    }
    return this.#commit(proposal, plan);
  }

  /** The final claims, for the single-threaded reconstruction after the barrier. */
  claims(): ReadonlyMap<number, number> {
    return new Map([...this.#claims].map(([machine, { need }]) => [machine, need]));
  }

  #plan({ need, precedence, machines }: Proposal): Plan {
    const plan: Plan = { fresh: [], displaceable: [], immovable: [] };
    for (const machine of new Set(machines)) {
      const claim = this.#claims.get(machine);
      assert(claim?.need !== need, 'a need proposes what it holds', { need, machine });
      if (claim === undefined) plan.fresh.push(machine);
      else if (comparePrecedence(precedence, claim.precedence) > 0) plan.displaceable.push(machine);
      else plan.immovable.push(machine);
    }
    return plan;
  }

  #commit(proposal: Proposal, { fresh, displaceable }: Plan): CommitResult {
    const displaced = this.#displace(displaceable);
    const machines = [...fresh, ...displaceable];
    const { need, precedence, budget } = proposal;
    let own = this.#machinesOf.get(need);
    if (own === undefined) this.#machinesOf.set(need, (own = new Set()));
    for (const machine of machines) {
      this.#claims.set(machine, { need, precedence, budget });
      own.add(machine);
    }
    this.#committedCount += machines.length;
    const bucket = bucketName(proposal.bucket);
    this.#sequences.set(bucket, (this.#sequences.get(bucket) ?? 0) + 1);
    return { kind: 'committed', machines, displaced };
  }

  /** Takes the machines from their holders; a holder of several is named once. */
  #displace(machines: readonly number[]): Displaced[] {
    const budgets = new Map<number, number>();
    for (const machine of machines) {
      const claim = this.#claims.get(machine);
      assert(claim !== undefined, 'a displaceable machine has a holder', { machine });
      const { need, budget } = claim;
      budgets.set(need, Math.min(budgets.get(need) ?? budget, budget));
      this.#claims.delete(machine);
      this.#machinesOf.get(need)?.delete(machine);
    }
    this.#displacedCount += machines.length;
    return [...budgets].map(([need, budget]) => ({ need, budget: spend(budget) }));
  }
}

const noMachines: ReadonlySet<number> = new Set();

function conflict(
  { budget }: Proposal,
  reason: Extract<CommitResult, { kind: 'conflict' }>['reason'],
): CommitResult {
  return { kind: 'conflict', reason, budget: spend(budget) };
}

/** Never below zero: zero is "exhausted". */
function spend(budget: number): number {
  return Math.max(0, budget - 1);
}

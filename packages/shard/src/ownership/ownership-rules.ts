// Whose a machine of a shared provider is (coordinator §9.2), first match wins: given away or frozen;
// adopted; its most specific domain; else the provider's home. Pure, and the same on every shard, or
// a machine would have two owners.
//
// A provider that only this shard dials is wholly its own. Of a shared one, a shard without an
// assignment (noAssignmentYet) owns nothing: guessing would own the fleet twice.
//
// Cost: three set look-ups and one per domain key; nothing is allocated.

import { type Attributes, attributeOf } from '@bigfleet/engine';
import { compareText } from '@bigfleet/base';
import { type Domain, domainId, type StoredAssignment } from './assignment.ts';
import type { DirectoryEntry } from './provider-directory.ts';
import { frozenMachines, type TransferBook } from './transfer-book.ts';

export type Ownership =
  | 'mine'
  /** Promised to another shard: still listed and reported, never acted on. */
  | 'frozen'
  /** In a domain that we are giving up: what runs there is ours until it is idle. */
  | 'releasing'
  | 'not_mine';

export interface JudgedMachine extends Attributes {
  readonly id: string;
  /** The configured name. */
  readonly provider: string;
}

export type ProviderFacts = Pick<DirectoryEntry, 'address' | 'isShared'>;

export interface RuleInputs {
  readonly assignment: StoredAssignment;
  readonly book: TransferBook;
  /** Chosen for a transfer whose record is on its way to the disk. */
  readonly beingFrozen?: Iterable<string>;
  /** Adopted and no more, as the disk is about to say too. */
  readonly beingLost?: ReadonlySet<string>;
  /** Domains that a report is about to call empty, by `domainId`. */
  readonly beingEmptied?: ReadonlySet<string>;
  readonly factsOf: (provider: string) => ProviderFacts | undefined;
}

type DomainVerdict = Exclude<Ownership, 'frozen'>;

export class OwnershipRules {
  readonly #frozen: ReadonlySet<string>;
  readonly #released: ReadonlySet<string>;
  readonly #adopted: ReadonlySet<string>;
  readonly #homes: ReadonlySet<string>;
  /** Most specific key first. */
  readonly #domains: readonly (readonly [string, ReadonlyMap<string, DomainVerdict>])[];
  readonly #factsOf: RuleInputs['factsOf'];

  constructor(inputs: RuleInputs) {
    const { assignment, book, beingFrozen = [], beingLost, beingEmptied, factsOf } = inputs;
    this.#frozen = new Set([...frozenMachines(book), ...beingFrozen]);
    this.#released = new Set(assignment.released.map(({ machineId }) => machineId));
    this.#adopted = new Set(
      assignment.adopted
        .map(({ machineId }) => machineId)
        .filter((id) => !book.gone.has(id) && beingLost?.has(id) !== true),
    );
    this.#homes = new Set(assignment.ownsUnmatchedProviders);
    this.#domains = domainTable(assignment, beingEmptied);
    this.#factsOf = factsOf;
  }

  of(machine: JudgedMachine): Ownership {
    if (this.#frozen.has(machine.id)) return 'frozen';
    const facts = this.#factsOf(machine.provider);
    if (facts === undefined || !facts.isShared) return 'mine';
    if (this.#released.has(machine.id)) return 'not_mine';
    if (this.#adopted.has(machine.id)) return 'mine';
    return this.#ofDomain(machine, facts.address);
  }

  /** By a transfer: its new owner may have put it to use before we heard that it is theirs. */
  isGivenAway(machine: JudgedMachine): boolean {
    return this.#released.has(machine.id) && this.of(machine) === 'not_mine';
  }

  /** True when the machine's id decides, not only its shape. */
  isNamed(machineId: string): boolean {
    return (
      this.#frozen.has(machineId) || this.#released.has(machineId) || this.#adopted.has(machineId)
    );
  }

  /** Rules 3 and 4: the same for every machine of one shape that is not named. */
  ofShape(shape: Attributes, provider: string): Ownership {
    const facts = this.#factsOf(provider);
    return facts === undefined || !facts.isShared ? 'mine' : this.#ofDomain(shape, facts.address);
  }

  #ofDomain(shape: Attributes, address: string): Ownership {
    for (const [key, values] of this.#domains) {
      const value = attributeOf(shape, key);
      const verdict = value === undefined ? undefined : values.get(value);
      if (verdict !== undefined) return verdict;
    }
    return this.#homes.has(address) ? 'mine' : 'not_mine';
  }
}

function domainTable(
  assignment: StoredAssignment,
  beingEmptied: ReadonlySet<string> | undefined,
): readonly (readonly [string, ReadonlyMap<string, DomainVerdict>])[] {
  const table = new Map<string, Map<string, DomainVerdict>>();
  const add = ({ key, value }: Domain, verdict: DomainVerdict): void => {
    const values = table.get(key) ?? new Map<string, DomainVerdict>();
    table.set(key, values.set(value, verdict));
  };
  // A domain that is listed twice counts by its last entry: an own domain is the weakest claim, and a
  // domain that is being given up is no other shard's yet.
  for (const domain of assignment.domains) add(domain, 'mine');
  for (const domain of assignment.foreignDomains) add(domain, 'not_mine');
  for (const domain of assignment.releasing) {
    const isEmpty = domain.isEmpty || beingEmptied?.has(domainId(domain)) === true;
    add(domain, isEmpty ? 'not_mine' : 'releasing');
  }
  return [...table].sort(([a], [b]) => compareDomainKeys(a, b));
}

const SPECIFIC_FIRST: readonly string[] = ['rack', 'zone-slice', 'zone', 'region'];

/**
 * Negative when `a` is asked before `b` (coordinator §9.2 rule 3): the most specific key decides, in
 * the order rack, zone-slice, zone, region, then every other key alphabetically. Two shards that
 * ordered keys differently would both take a machine, or neither would. A key is known by the part
 * after its last slash: prefixes differ from one installation to the next.
 */
export function compareDomainKeys(a: string, b: string): number {
  return rankOf(a) - rankOf(b) || compareText(a, b);
}

function rankOf(key: string): number {
  const rank = SPECIFIC_FIRST.indexOf(key.slice(key.lastIndexOf('/') + 1));
  return rank < 0 ? SPECIFIC_FIRST.length : rank;
}

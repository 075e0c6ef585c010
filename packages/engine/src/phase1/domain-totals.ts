// What each domain could supply to a kind of need in one pass: counts and sums over the
// acquirable machines, computed once per (eligible classes, Same key) and kept up to date while
// gangs consume virtually. A gang then weighs domains, not classes.

import type { EligibleSet } from '../match/eligible-set.ts';
import type { CompiledProfile } from '../needs/compiled-profile.ts';
import type { Inventory } from '../store/inventory.ts';
import { isFiniteFor } from './may-serve.ts';
import { IDLE, type PoolView, SPECULATIVE } from './pool-view.ts';

export class DomainTotals {
  readonly values: readonly string[];
  readonly stride: number;
  readonly counts: Int32Array;
  /** `sums[domain * stride + dimension]`; beyond 2⁵³ they are only known to be beyond. */
  readonly sums: Float64Array;
  readonly #domainOf = new Map<number, number>();
  readonly #classes: readonly (readonly number[])[];
  readonly #compiled: CompiledProfile;
  readonly #inventory: Inventory;
  readonly #view: PoolView;

  constructor(
    inventory: Inventory,
    compiled: CompiledProfile,
    eligible: EligibleSet,
    view: PoolView,
  ) {
    this.#inventory = inventory;
    this.#compiled = compiled;
    this.#view = view;
    const { values } = eligible.domains(compiled.sameKey as string);
    this.values = [...values.keys()];
    this.#classes = [...values.values()];
    this.stride = inventory.classes.allocatable.stride;
    this.counts = new Int32Array(values.size);
    this.sums = new Float64Array(values.size * this.stride);
    for (let domain = 0; domain < this.values.length; domain++) this.#recount(domain);
  }

  /** One machine of the class was taken from the view. */
  consume(klass: number): void {
    const domain = this.#domainOf.get(klass);
    if (domain === undefined) return;
    // A sum that lost its last digits cannot come down exactly; few machines are that large.
    if (this.#isBeyond(domain)) this.#recount(domain);
    else this.#add(domain, klass, -1);
  }

  #isBeyond(domain: number): boolean {
    const start = domain * this.stride;
    for (let at = start; at < start + this.stride; at++) {
      if ((this.sums[at] as number) > Number.MAX_SAFE_INTEGER) return true;
    }
    return false;
  }

  #recount(domain: number): void {
    this.counts[domain] = 0;
    this.sums.fill(0, domain * this.stride, (domain + 1) * this.stride);
    for (const klass of this.#classes[domain] as readonly number[]) {
      if (!isFiniteFor(this.#inventory, this.#compiled, klass)) continue;
      const count = this.#view.remaining(IDLE, klass) + this.#view.remaining(SPECULATIVE, klass);
      if (count === 0) continue;
      this.#domainOf.set(klass, domain);
      this.#add(domain, klass, count);
    }
  }

  #add(domain: number, klass: number, count: number): void {
    const { values, stride } = this.#inventory.classes.allocatable;
    this.counts[domain] = (this.counts[domain] as number) + count;
    for (let d = 0; d < stride; d++) {
      const at = domain * stride + d;
      this.sums[at] = (this.sums[at] as number) + (values[klass * stride + d] as number) * count;
    }
  }
}

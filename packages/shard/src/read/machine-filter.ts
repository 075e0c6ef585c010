// Which machines a reader asked for. Ids are looked up, everything else is a few array reads per
// machine; requirements are answered once per shape.

import { BigFleetError } from '@bigfleet/base';
import { isOperatorCode, isStateCode, type Requirement, satisfiesAll } from '@bigfleet/engine';
import type { ListMachinesRequest } from '@bigfleet/wire';
import type { Fleet } from '../fleet/fleet.ts';
import type { KnownShape } from '../provider/reconcile/known-machines.ts';

export class MachineFilter {
  readonly #fleet: Fleet;
  readonly #states: ReadonlySet<number>;
  readonly #clusters: ReadonlySet<string>;
  readonly #provider: string;
  readonly #requirements: readonly Requirement[];
  readonly #fits = new Map<KnownShape, boolean>();

  /** Throws for what can never match by mistake: an unknown state or operator. */
  constructor(fleet: Fleet, request: ListMachinesRequest) {
    this.#fleet = fleet;
    this.#states = new Set(request.states.map(knownState));
    this.#clusters = new Set(request.clusterIds);
    this.#provider = request.provider;
    this.#requirements = request.requirements.map(requirementOf);
  }

  accepts(slot: number): boolean {
    const { known } = this.#fleet;
    if (this.#states.size > 0 && !this.#states.has(known.stateOf(slot))) return false;
    if (this.#clusters.size > 0 && !this.#clusters.has(known.clusterOf(slot))) return false;
    if (this.#provider !== '' && known.providerOf(slot) !== this.#provider) return false;
    return this.#requirements.length === 0 || this.#isFitting(known.shapeOf(slot));
  }

  #isFitting(shape: KnownShape): boolean {
    let isFitting = this.#fits.get(shape);
    if (isFitting === undefined) {
      isFitting = satisfiesAll(shape, this.#requirements);
      this.#fits.set(shape, isFitting);
    }
    return isFitting;
  }
}

function knownState(state: number): number {
  if (isStateCode(state)) return state;
  throw new BigFleetError('read_request_invalid', `states: no state has the number ${state}`);
}

function requirementOf({
  key,
  operator,
  values,
}: ListMachinesRequest['requirements'][number]): Requirement {
  const code: number = operator;
  if (!isOperatorCode(code)) {
    throw new BigFleetError('read_request_invalid', `requirements: unknown operator ${code}`);
  }
  return { key, operator: code, values };
}

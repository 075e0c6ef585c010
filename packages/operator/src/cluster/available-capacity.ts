// AvailableCapacity: what the shard could deliver, as a hint (kubernetes §4.4). One object per key of the
// shard; equal hints are not written again, because a reconnect repeats them all.

import { parseQuantity } from '@bigfleet/base';
import {
  type ApiObject,
  AVAILABLE_CAPACITIES,
  type AvailableCapacitySpec,
  type KubeClient,
  refusalError,
} from '@bigfleet/kube';
import { type AvailableCapacityUpdate, Confidence, Operator } from '@bigfleet/wire';
import { availableCapacityName, isAvailableCapacityName } from './names.ts';

const AVAILABILITY: Readonly<Record<number, AvailableCapacitySpec['availability']>> = {
  [Confidence.LOW]: 'Low',
  [Confidence.MEDIUM]: 'Medium',
  [Confidence.HIGH]: 'High',
};

const OPERATORS: Readonly<Record<number, string>> = {
  [Operator.IN]: 'In',
  [Operator.NOT_IN]: 'NotIn',
  [Operator.EXISTS]: 'Exists',
  [Operator.DOES_NOT_EXIST]: 'DoesNotExist',
};

export class AvailableCapacities {
  readonly #client: KubeClient;
  /** Name to the text of the spec that stands there, from the watch or from our own writes. */
  readonly #standing = new Map<string, string>();

  constructor(client: KubeClient) {
    this.#client = client;
  }

  seen(name: string, spec: string | undefined): void {
    if (spec === undefined) this.#standing.delete(name);
    else this.#standing.set(name, spec);
  }

  async apply(update: AvailableCapacityUpdate, signal: AbortSignal): Promise<void> {
    if (update.supersedesKey === '') return;
    const name = availableCapacityName(update.supersedesKey);
    const spec = hintSpec(update);
    const text = specText(spec);
    if (this.#standing.get(name) === text) return;
    const written = this.#standing.has(name)
      ? await this.#replace(name, spec, signal)
      : await this.#create(name, spec, signal);
    if (written) this.#standing.set(name, text);
  }

  async #create(name: string, spec: AvailableCapacitySpec, signal: AbortSignal): Promise<boolean> {
    const body = {
      apiVersion: 'bigfleet.lucy.sh/v1alpha1',
      kind: 'AvailableCapacity',
      metadata: { name },
      spec,
    };
    const answer = await this.#client.create(AVAILABLE_CAPACITIES, body, { lane: 'node', signal });
    if (answer.kind === 'ok') return true;
    if (answer.reason === 'AlreadyExists') return this.#replace(name, spec, signal);
    throw refusalError(answer);
  }

  /** Read and replaced whole: a merge would keep resources that the profile no longer has. */
  async #replace(name: string, spec: AvailableCapacitySpec, signal: AbortSignal): Promise<boolean> {
    const target = { namespace: '', name };
    const current = await this.#client.get(AVAILABLE_CAPACITIES, target, signal);
    if (current.kind === 'refused') {
      if (current.status === 404) return this.#create(name, spec, signal);
      throw refusalError(current);
    }
    const metadata = current.object['metadata'] as { readonly name: string };
    const body = { ...current.object, metadata, spec };
    const answer = await this.#client.replace(AVAILABLE_CAPACITIES, body, { lane: 'node', signal });
    if (answer.kind === 'refused') throw refusalError(answer);
    return true;
  }

  /** Objects of keys that the shard no longer names: they would advertise capacity for ever. */
  async sweep(known: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    const kept = new Set([...known].map(availableCapacityName));
    for (const name of this.#standing.keys()) {
      if (kept.has(name) || !isAvailableCapacityName(name)) continue;
      const target = { namespace: '', name };
      const answer = await this.#client.delete(AVAILABLE_CAPACITIES, target, {
        lane: 'node',
        signal,
      });
      if (answer.kind === 'refused' && answer.status !== 404) throw refusalError(answer);
      this.#standing.delete(name);
    }
  }
}

/** The spec of an object in the watch, as `apply` compares it. */
export function readHint(object: ApiObject): string {
  return specText((object['spec'] ?? {}) as AvailableCapacitySpec);
}

function hintSpec(update: AvailableCapacityUpdate): AvailableCapacitySpec {
  // `Same` exists on the wire only.
  const requirements = update.requirements
    .filter(({ operator }) => OPERATORS[operator] !== undefined)
    .map(({ key, operator, values }) => ({ key, operator: OPERATORS[operator] ?? '', values }));
  const resources = Object.entries(update.resources?.resources ?? {}).filter(
    ([, quantity]) => parseQuantity(quantity).ok,
  );
  return {
    requirements,
    resources: Object.fromEntries(resources),
    availableCount: update.availableCount,
    availability: AVAILABILITY[update.confidence] ?? 'None',
    cost: costText(update.costPerHour),
  };
}

const COST_DIGITS = 4;

/** A plain decimal: an exponent is no quantity that a person reads. */
function costText(costPerHour: number): string {
  if (!Number.isFinite(costPerHour) || costPerHour <= 0) return '0';
  return costPerHour.toFixed(COST_DIGITS).replace(/\.?0+$/, '');
}

function specText({ requirements, resources, ...rest }: AvailableCapacitySpec): string {
  const sorted = Object.entries(resources ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const terms = (requirements ?? []).map(({ key, operator, values = [] }) => [
    key,
    operator,
    values,
  ]);
  const { availableCount, availability, cost } = rest;
  return JSON.stringify([terms, sorted, availableCount, availability, String(cost)]);
}

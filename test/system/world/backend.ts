// A provider author's backend over the substrate: slow, sometimes refused, and cut off with its
// process. The effect of a call falls before or after its wait at random, because a cloud may have
// done what its caller never heard of.

import { type Random, sleep } from '@bigfleet/base';
import {
  type Backend,
  type ConfigureInstanceOptions,
  type CreatedInstance,
  type CreateInstanceOptions,
  type Instance,
  ProviderError,
  type ReadinessChecker,
} from '@bigfleet/providerkit';
import { type Life, never } from './life.ts';
import type { Mutant } from './mutant.ts';
import type { Substrate } from './substrate.ts';

export interface CrudeBackendOptions {
  readonly life: Life;
  readonly substrate: Substrate;
  readonly slots: readonly Instance[];
  /** One in so many creates and configures is refused; 0 for none. */
  readonly refusals: () => number;
  readonly mutant: Mutant | undefined;
}

const LONGEST_MS = 1_500;
const HOSTS = 'system';

export class CrudeBackend implements Backend {
  readonly #options: CrudeBackendOptions;
  readonly #random: Random;

  constructor(options: CrudeBackendOptions) {
    this.#options = options;
    this.#random = options.life.runtime.random.stream('backend');
  }

  async describe(): Promise<readonly Instance[]> {
    const { slots, substrate } = this.#options;
    return slots.map((slot) => {
      const ref = substrate.hostRefOf(slot.id);
      return ref === undefined ? slot : { ...slot, host: { provider: HOSTS, ref } };
    });
  }

  async createInstance(options: CreateInstanceOptions): Promise<CreatedInstance> {
    const { machine, operationId, signal } = options;
    const { substrate, mutant } = this.#options;
    let ref = '';
    let attempt = operationId;
    if (mutant === 'second-writer') attempt += `-${this.#random.uint32()}`;
    await this.#act(signal, 'create', () => {
      ref = substrate.create(machine.id, attempt);
    });
    return { host: { provider: HOSTS, ref } };
  }

  async configureInstance(options: ConfigureInstanceOptions): Promise<void> {
    const { machine, clusterId, operationId, signal } = options;
    await this.#act(signal, 'configure', () => {
      if (this.#options.substrate.join(machine.id, clusterId, operationId)) return;
      throw refusal('configure', 'there is no host');
    });
  }

  async drainInstance({ machine, signal }: Parameters<Backend['drainInstance']>[0]): Promise<void> {
    const { substrate, mutant } = this.#options;
    await this.#act(signal, 'drain', () => {
      if (mutant !== 'sticky-drain') substrate.leave(machine.id);
    });
  }

  async deleteInstance({
    machine,
    signal,
  }: Parameters<NonNullable<Backend['deleteInstance']>>[0]): Promise<void> {
    await this.#act(signal, 'delete', () => this.#options.substrate.remove(machine.id));
  }

  async #act(
    signal: AbortSignal,
    step: 'create' | 'configure' | 'drain' | 'delete',
    effect: () => void,
  ): Promise<void> {
    const { life, refusals } = this.#options;
    if (life.isOver) return await never();
    const odds = step === 'create' || step === 'configure' ? refusals() : 0;
    const isRefused = odds > 0 && this.#random.below(odds) === 0;
    const isEarly = this.#random.below(2) === 0;
    if (isEarly) effect();
    await sleep(life.runtime, this.#random.below(LONGEST_MS), signal);
    if (life.isOver) return await never();
    if (isRefused) throw refusal(step, 'no capacity today');
    if (!isEarly) effect();
  }
}

function refusal(op: string, message: string): ProviderError {
  return new ProviderError({ class: 'capacity', op, vendorCode: 'Refused', message });
}

/** A node is Ready when its host has joined: the substrate knows. */
export function nodeReadiness(substrate: Substrate): ReadinessChecker {
  return {
    confirmNodeReady: async ({ machine, clusterId }) => {
      if (substrate.clusterOf(machine.id) !== clusterId) throw refusal('ready', 'no such node');
    },
    isNodeReady: async ({ machine, clusterId }) => substrate.clusterOf(machine.id) === clusterId,
  };
}

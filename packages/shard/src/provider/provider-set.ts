// The providers of one shard, by name. A machine belongs to the provider that last listed it,
// which its record names; calls about it go there. Providers share nothing but this list: one
// that is down, slow or lying leaves the others as they are. An empty set is legal.

import { BigFleetError } from '@bigfleet/base';
import type { Machine } from '@bigfleet/engine';
import type { ProviderSource } from './provider-source.ts';
import type { Provider } from './provider.ts';

export const MAX_PROVIDERS = 32;

export class ProviderSet {
  readonly #sources = new Map<string, ProviderSource>();

  constructor(sources: Iterable<ProviderSource> = []) {
    for (const source of sources) this.add(source);
  }

  get size(): number {
    return this.#sources.size;
  }

  [Symbol.iterator](): Iterator<ProviderSource> {
    return this.#sources.values();
  }

  add(source: ProviderSource): void {
    const { name } = source;
    if (name === '') throw misconfigured('a provider needs a name');
    if (this.#sources.has(name)) {
      throw misconfigured(`two providers are named ${JSON.stringify(name)}`);
    }
    if (this.#sources.size >= MAX_PROVIDERS) {
      throw misconfigured(`more than ${MAX_PROVIDERS} providers`);
    }
    this.#sources.set(name, source);
  }

  /** Its machines stay known until another provider lists them; no call about them is possible. */
  remove(name: string): boolean {
    return this.#sources.delete(name);
  }

  get(name: string): ProviderSource | undefined {
    return this.#sources.get(name);
  }

  /** Whom to call about a machine; undefined when its provider is configured no more. */
  route(machine: Pick<Machine, 'provider'>): Provider | undefined {
    return this.#sources.get(machine.provider)?.provider;
  }
}

function misconfigured(problem: string): BigFleetError {
  return new BigFleetError('provider_misconfigured', problem);
}

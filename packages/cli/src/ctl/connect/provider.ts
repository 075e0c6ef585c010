// Talks to a provider itself: to try it before it is registered, and to settle a Failed machine.
// Providers carry no bigfleet:// name, so their host name is what is checked (security §3.2).

import { BigFleetError } from '@bigfleet/base';
import {
  type CallOptions,
  CapacityProvider,
  type Client,
  createClient,
  ProviderAdmin,
} from '@bigfleet/wire';
import { callFailure } from './failure.ts';
import { dialTarget, type LinkOptions, withinTimeout } from './network.ts';

export interface ProviderApi {
  readonly provider: Client<typeof CapacityProvider>;
  readonly admin: Client<typeof ProviderAdmin>;
}

export class ProviderLink {
  readonly #options: LinkOptions;

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  async ask<T>(
    address: string,
    feature: string,
    work: (api: ProviderApi, call: CallOptions) => Promise<T>,
  ): Promise<T> {
    const { channels, tls } = this.#options;
    const target = dialTarget(address);
    const name = `the provider at ${address}`;
    if (target === undefined) {
      throw new BigFleetError('provider_unreachable', `${name}: that is no address to dial`);
    }
    const channel = channels.to({ target, tls, serverIdentity: { kind: 'host-name-only' } });
    const api = {
      provider: createClient(CapacityProvider, channel),
      admin: createClient(ProviderAdmin, channel),
    };
    try {
      return await withinTimeout(this.#options, (call) => work(api, call));
    } catch (error) {
      throw callFailure(error, { kind: 'provider', name }, feature);
    }
  }
}

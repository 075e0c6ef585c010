// Where a provider that is built on the kit can be wrong although the kit is right: the settings
// it runs with, the substrate under it, the store that it trusts, and what stands between its
// handlers and the wire. Nothing given is the right provider.

import type { Runtime } from '@bigfleet/base';
import type { Backend, ProviderOptions, Store } from '@bigfleet/providerkit';
import type { CapacityProvider, Handlers } from '@bigfleet/wire';

export type ProviderHandlers = Handlers<typeof CapacityProvider>;

export interface Layers {
  readonly settings?: ProviderOptions;
  /** Once: a substrate outlives the provider's processes. */
  readonly substrate?: (right: Backend, runtime: Runtime) => Backend;
  /** Of one process; what it holds back is lost when the process is killed. */
  readonly store?: (right: Store, runtime: Runtime) => Store;
  /** Of one process; what it remembers is forgotten when the process is killed. */
  readonly handlers?: (right: ProviderHandlers, runtime: Runtime) => ProviderHandlers;
}

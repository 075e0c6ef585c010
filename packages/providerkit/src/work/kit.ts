// The parts of one running provider that its steps share: what was given and what is held. Made once
// by createProvider; each step takes what it uses.

import type { Runtime } from '@bigfleet/base';
import type { Logger } from '@bigfleet/telemetry';
import type { Backend } from '../backend/backend.ts';
import type { ReadinessChecker } from '../backend/readiness.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { Ledger } from '../fleet/ledger.ts';
import type { KitObserver } from '../observer.ts';
import type { KitOptions } from '../options.ts';
import type { Store } from '../store/store.ts';
import type { KeyedSections } from './keyed-sections.ts';
import type { BackendHealth, ReadyState } from './ready-state.ts';

export interface Kit {
  readonly backend: Backend;
  readonly store: Store;
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly observer: KitObserver;
  readonly options: KitOptions;
  readonly gate: ReadinessChecker;
  readonly fleet: Fleet;
  readonly ledger: Ledger;
  readonly ready: ReadyState;
  readonly sections: KeyedSections;
  /**
   * Machines with a teardown or wipe under way. One at a time: a teardown that outlives the cleanup
   * of its slot would hit the host of the slot's next life.
   */
  readonly cleaning: Set<string>;
  readonly health: BackendHealth;
  /** Ends with the provider: nothing is begun or armed after it. */
  readonly lifetime: AbortSignal;
}

// A storage engine with what comes beside it, as the process holds it.

import type { Runtime } from '@bigfleet/base';
import type { Logger } from '@bigfleet/telemetry';
import type { TlsMaterial } from '@bigfleet/wire';
import type { CoordinatorMetrics } from '../metrics/coordinator-metrics.ts';
import type { JoinHandler } from '../service/join-handlers.ts';
import type { Store } from '../store/store.ts';
import type { CoordinatorSettings } from './settings.ts';

export interface OpenStoreOptions {
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly settings: CoordinatorSettings;
  readonly metrics: CoordinatorMetrics;
  /** Of the gRPC port. */
  readonly tls: TlsMaterial | undefined;
  /** Aborts when the process stops. */
  readonly signal: AbortSignal;
}

export interface StoreParts {
  readonly store: Store;
  readonly join: JoinHandler;
  /**
   * Resolves when the store may be opened: a managed etcd is probed for, joined and started, which
   * takes as long as the other replicas take. Rejects when the process stops before that.
   */
  readonly form: () => Promise<void>;
  /** Runs beside the replica, once the store is formed, until the process stops. */
  readonly run: () => Promise<void>;
  /** Runs while this replica leads. */
  readonly whileLeading: (signal: AbortSignal) => Promise<void>;
  /** After the store was closed. */
  readonly close: () => Promise<void>;
}

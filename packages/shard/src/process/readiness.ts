// `/readyz` of a shard: the core's latched readiness, until it shuts down (shard §3.4). Never a word
// about the coordinator.

import type { ReadinessSource } from '@bigfleet/telemetry';
import { NOT_READY_TEXT } from '../core/readiness.ts';
import type { ShardCore } from '../core/shard-core.ts';

export interface ShardReadiness extends ReadinessSource {
  /** 503 from now on. */
  shutDown(): void;
}

export function shardReadiness(core: Pick<ShardCore, 'readiness'>): ShardReadiness {
  let isShuttingDown = false;
  return {
    state: () => {
      if (isShuttingDown) return { ready: false, reason: 'shutting down' };
      return core.readiness.isReady ? { ready: true } : { ready: false, reason: NOT_READY_TEXT };
    },
    shutDown: () => {
      isShuttingDown = true;
    },
  };
}

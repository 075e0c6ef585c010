// Which store the kit gets: the journal at `--state`, or memory. A real backend in memory refuses
// to start unless that was asked for: a restart would forget fence marks and operation ids, let a
// zombie shard in and create machines twice.

import { BigFleetError, type Runtime } from '@bigfleet/base';
import type { Logger } from '@bigfleet/telemetry';
import { createJournalStore } from '../store/journal/journal-store.ts';
import type { JournalLimits } from '../store/journal/options.ts';
import { MemoryStore } from '../store/memory-store.ts';
import type { Store } from '../store/store.ts';
import type { BackendKind } from './definition.ts';

export interface StoreChoice {
  readonly path: string;
  readonly allowEphemeral: boolean;
  readonly kind: BackendKind;
  readonly journal: Partial<JournalLimits> | undefined;
  readonly runtime: Runtime;
  readonly logger: Logger;
}

/** Throws `state_not_configured`; the journal itself is opened by the kit. */
export function openStore(choice: StoreChoice): Store {
  const { path, kind, runtime, logger } = choice;
  if (path !== '') {
    return createJournalStore({
      path,
      runtime,
      limits: choice.journal ?? {},
      observer: {
        onCompacted: ({ bytes, generation }) =>
          logger.debug('state compacted', { bytes, generation }),
        onCompactionFailed: (error) => logger.warn('state could not be compacted', { err: error }),
      },
    });
  }
  if (kind === 'real') {
    if (!choice.allowEphemeral) {
      throw new BigFleetError(
        'state_not_configured',
        '--state is empty: a restart would forget every fence mark, operation and binding. Set ' +
          'it to a path on a persistent volume, or accept the loss with --allow-ephemeral-state',
      );
    }
    logger.warn('state is kept in memory only: a restart forgets fence marks and operations');
  }
  return new MemoryStore();
}

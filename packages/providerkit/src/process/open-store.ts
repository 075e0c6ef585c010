// Which store the kit gets: the journal at `--state`, or memory. A real backend in memory refuses
// to start unless that was asked for: a restart would forget fence marks and operation ids, let a
// zombie shard in and create machines twice.

import { BigFleetError } from '@bigfleet/base';
import type { FlagTable } from '@bigfleet/process/flags';
import { createJournalStore } from '../store/journal/journal-store.ts';
import { MemoryStore } from '../store/memory-store.ts';
import type { Store } from '../store/store.ts';
import type { BackendKind, StartOptions } from './definition.ts';

/** Throws `state_not_configured`; the journal itself is opened by the kit. */
export function openStore<Own extends FlagTable>(
  { definition, settings, runtime, logger }: StartOptions<Own>,
  kind: BackendKind,
): Store {
  const path = settings.flags.state;
  if (path !== '') {
    return createJournalStore({
      path,
      runtime,
      limits: definition.journal ?? {},
      observer: {
        onCompacted: ({ bytes, generation }) =>
          logger.debug('state compacted', { bytes, generation }),
        onCompactionFailed: (error) => logger.warn('state could not be compacted', { err: error }),
      },
    });
  }
  if (kind === 'real') {
    if (!settings.flags['allow-ephemeral-state']) {
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

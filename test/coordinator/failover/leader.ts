// Which of some replicas leads, asked of each of them as an operator would.

import { eventually, withDeadline } from '../../toolkit/index.ts';
import type { CoordinatorProcess } from './coordinator-process.ts';

/** A frozen one does not answer at all; a busy one gets its time. */
const ANSWERS_WITHIN_MS = 2_000;

export interface Leader {
  readonly replica: CoordinatorProcess;
  readonly term: bigint;
}

export function findLeader(
  replicas: readonly CoordinatorProcess[],
  withinMs: number,
): Promise<Leader> {
  return eventually(
    async () => {
      for (const replica of replicas.filter(({ isRunning }) => isRunning)) {
        const status = await withDeadline('status', ANSWERS_WITHIN_MS, (signal) =>
          replica.admin.getStatus({}, { signal }),
        );
        if (status.isLeader) return { replica, term: status.coordinatorTerm };
      }
      return undefined;
    },
    { what: 'a coordinator that leads', withinMs },
  );
}

// Which of some replicas leads, asked of each of them as an operator would.

import { ATTEMPT_MS, eventually, withDeadline } from '../../toolkit/index.ts';
import type { CoordinatorProcess } from './coordinator-process.ts';

export interface Leader {
  readonly replica: CoordinatorProcess;
  readonly term: bigint;
}

export function findLeader(replicas: readonly CoordinatorProcess[]): Promise<Leader> {
  return eventually(
    async () => {
      for (const replica of replicas.filter(({ isRunning }) => isRunning)) {
        const status = await withDeadline('status', ATTEMPT_MS, (signal) =>
          replica.admin.getStatus({}, { signal }),
        );
        if (status.isLeader) return { replica, term: status.coordinatorTerm };
      }
      return undefined;
    },
    { what: 'a coordinator that leads' },
  );
}

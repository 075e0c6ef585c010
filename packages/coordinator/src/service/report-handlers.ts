// ReportShard: the leader check ran before, identity too; the desk does the rest.

import type { Coordinator, Handlers } from '@bigfleet/wire';
import { type LeaderGate, failure } from './leader-gate.ts';

export function reportHandlers(
  gate: LeaderGate,
): Pick<Handlers<typeof Coordinator>, 'reportShard'> {
  return {
    reportShard: async (report, { signal }) => {
      const outcome = await gate.leading().desk.handler.handle(report, signal);
      if (outcome.kind === 'refused') throw failure(gate, outcome);
      return outcome.ack;
    },
  };
}

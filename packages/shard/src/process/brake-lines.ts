// The log lines of the brake on machines that never join: one when a pause begins, one when it is
// over. Pauses double, so a need that never joins is told some thirty times a day, not every cycle.

import type { BrakedNeed, BrakedType, BrakeObserver } from '@bigfleet/engine';
import type { Logger } from '@bigfleet/telemetry';
import { configuresFail, configuresFreed } from './log-messages.ts';

export function createBrakeLines(logger: Logger): BrakeObserver {
  return {
    onHeld: ({ subject, failureCount, pauseMs, lastError }) =>
      logger.event(configuresFail, {
        ...namesOf(subject),
        failures: failureCount,
        pause_seconds: pauseMs / 1_000,
        last_error: lastError,
      }),
    onCleared: ({ subject, failureCount }, by) =>
      logger.event(configuresFreed, { ...namesOf(subject), failures: failureCount, by }),
  };
}

function namesOf(subject: BrakedNeed | BrakedType): Record<string, string> {
  if ('cluster' in subject) return { cluster: subject.cluster, fingerprint: subject.fingerprint };
  return { provider: subject.provider, instance_type: subject.instanceType };
}

// Log lines of the process that observability §13 does not list.

import type { LogMessage } from '@bigfleet/telemetry';

/** Any is a bug: the shard goes on with full passes, which decide right. */
export const incrementalMismatch: LogMessage<'cycle' | 'mismatches'> = {
  level: 'error',
  text: 'incremental decision differs from the full pass; full passes follow',
};

/** Once per provider, when the patience of the start is over. */
export const providerUnheard: LogMessage<'provider' | 'err'> = {
  level: 'warn',
  text: 'deciding without a provider that was never heard: what it already runs may be bought again',
};

/** Once per pause: a refusal that follows from the same pace is only counted. */
export const providerSlowedDown: LogMessage<'provider' | 'window' | 'pause_ms'> = {
  level: 'warn',
  text: 'provider answers RESOURCE_EXHAUSTED: its actions slow down',
};

/** Once per List with more refused records than lines. */
export const machinesRejected: LogMessage<'provider' | 'rejected' | 'suppressed'> = {
  level: 'warn',
  text: 'provider machines rejected at ingest',
};

type BrakedSubject = 'cluster' | 'fingerprint' | 'provider' | 'instance_type';

/** With every pause of the brake: of a need, or of an instance type. */
export const configuresFail: LogMessage<
  'failures' | 'pause_seconds' | 'last_error',
  BrakedSubject
> = { level: 'warn', text: 'configures fail: held off' };

/** `by`: a machine joined, an administrator, or nothing was tried for an hour. */
export const configuresFreed: LogMessage<'failures' | 'by', BrakedSubject> = {
  level: 'info',
  text: 'configures no longer held off',
};

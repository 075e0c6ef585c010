// Log lines of the process that observability §13 does not list.

import { defineMessage, type LogMessage } from '@bigfleet/telemetry';

/** Any is a bug: the shard goes on with full passes, which decide right. */
export const incrementalMismatch: LogMessage<'cycle' | 'mismatches'> = defineMessage({
  level: 'error',
  text: 'incremental decision differs from the full pass; full passes follow',
  keys: ['cycle', 'mismatches'],
});

/** Once per provider, when the patience of the start is over. */
export const providerUnheard: LogMessage<'provider' | 'err'> = defineMessage({
  level: 'warn',
  text: 'deciding without a provider that was never heard: what it already runs may be bought again',
  keys: ['provider', 'err'],
});

/** Once per pause: a refusal that follows from the same pace is only counted. */
export const providerSlowedDown: LogMessage<'provider' | 'window' | 'pause_ms'> = defineMessage({
  level: 'warn',
  text: 'provider answers RESOURCE_EXHAUSTED: its actions slow down',
  keys: ['provider', 'window', 'pause_ms'],
});

/** Once per List with more refused records than lines. */
export const machinesRejected: LogMessage<'provider' | 'rejected' | 'suppressed'> = defineMessage({
  level: 'warn',
  text: 'provider machines rejected at ingest',
  keys: ['provider', 'rejected', 'suppressed'],
});

type BrakedSubject = 'cluster' | 'fingerprint' | 'provider' | 'instance_type';

/** With every pause of the brake: of a need, or of an instance type. */
export const configuresFail: LogMessage<
  'failures' | 'pause_seconds' | 'last_error',
  BrakedSubject
> = defineMessage({
  level: 'warn',
  text: 'configures fail: held off',
  keys: ['failures', 'pause_seconds', 'last_error'],
  optional: ['cluster', 'fingerprint', 'provider', 'instance_type'],
});

/** `by`: a machine joined, an administrator, or nothing was tried for an hour. */
export const configuresFreed: LogMessage<'failures' | 'by', BrakedSubject> = defineMessage({
  level: 'info',
  text: 'configures no longer held off',
  keys: ['failures', 'by'],
  optional: ['cluster', 'fingerprint', 'provider', 'instance_type'],
});

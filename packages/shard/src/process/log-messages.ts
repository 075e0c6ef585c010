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

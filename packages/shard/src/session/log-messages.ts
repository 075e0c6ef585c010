// Log lines of the session that observability §13 does not list.

import { defineMessage, type LogMessage } from '@bigfleet/telemetry';

/** A frame, or a part of one, that had no effect. Sampled: a peer chooses how often. */
export const frameIgnored: LogMessage<'cluster' | 'reason', 'detail'> = defineMessage({
  level: 'warn',
  text: 'operator message handling',
  keys: ['cluster', 'reason'],
  optional: ['detail'],
});

export const FRAME_IGNORED_PER_SECOND = 10;

// Brakes of all shards: needs and types whose configures fail.

import type { Answer } from '../api/index.ts';
import type { World } from '../mirror/world.ts';

export function brakesOf({ shards }: World): Answer<'triage'>['brakes'] {
  return shards.flatMap(({ mirror, head }) =>
    (head.status?.brakes ?? []).map(({ subject, failures, pauseEndsMs, lastError }) => ({
      shard: mirror.name,
      subject,
      failures,
      pauseEndsMs,
      lastError,
    })),
  );
}

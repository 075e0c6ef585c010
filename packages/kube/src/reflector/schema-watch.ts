// Follows the definition of one kind (kubernetes §8.2 rule 7): a newly defaulted field changes stored
// objects without an event for each, so that a resumed watch would keep them as they were. Whoever keeps
// the collection lists it anew when the definition's generation moves.
//
// At once and again later: an API server takes a definition into use some time after it has stored it,
// and each of several in its own time. A list in between is answered by the old schema, and nothing in
// the answer tells.

import type { Runtime, Timer } from '@bigfleet/base';
import type { KubeClient } from '../api/client.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, type Resource } from '../api/resource.ts';
import { Reflector, type ReflectorFailure } from './reflector.ts';

export interface SchemaWatchOptions {
  readonly runtime: Runtime;
  readonly client: Pick<KubeClient, 'get' | 'list' | 'transport'>;
  readonly resource: Resource;
  readonly changed: () => void;
  readonly failed: (failure: ReflectorFailure) => void;
}

const AGAIN_MS = [5_000, 30_000, 90_000];

export function schemaWatch(options: SchemaWatchOptions): {
  run(signal: AbortSignal): Promise<void>;
} {
  const { runtime, client, resource, changed, failed } = options;
  let timers: readonly Timer[] = [];
  const cancel = (): void => {
    for (const timer of timers) timer.cancel();
  };
  const reflector = new Reflector<number>({
    runtime,
    client,
    resource: CUSTOM_RESOURCE_DEFINITIONS,
    only: `${resource.plural}.${resource.group}`,
    read: (object) => Number((object['metadata'] as { generation?: number }).generation ?? 0),
    observer: {
      upserted: (_key, generation, before) => {
        if (before === undefined || before === generation) return;
        cancel();
        changed();
        timers = AGAIN_MS.map((ms) => runtime.timers.after(ms, changed));
      },
      failed,
    },
  });
  return { run: (signal) => reflector.run(signal).finally(cancel) };
}

// Follows the definition of one kind (kubernetes §8.2 rule 7): a newly defaulted field changes stored
// objects without an event for each, so that a resumed watch would keep them as they were. Whoever keeps
// the collection lists it anew when the definition's generation moves.

import type { Runtime } from '@bigfleet/base';
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

export function schemaWatch(options: SchemaWatchOptions): Reflector<number> {
  const { runtime, client, resource, changed, failed } = options;
  return new Reflector<number>({
    runtime,
    client,
    resource: CUSTOM_RESOURCE_DEFINITIONS,
    only: `${resource.plural}.${resource.group}`,
    read: (object) => Number((object['metadata'] as { generation?: number }).generation ?? 0),
    observer: {
      upserted: (_key, generation, before) => {
        if (before !== undefined && before !== generation) changed();
      },
      failed,
    },
  });
}

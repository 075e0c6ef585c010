// What the brake on machines that never join holds off (adr 0085), read when a scrape asks. With the
// rail off both are 0.

import type { ConfigureBrake } from '@bigfleet/engine';
import type { MetricRegistry } from '@bigfleet/telemetry';

export function observeBrakes(
  registry: MetricRegistry,
  brake: Pick<ConfigureBrake, 'heldNeedCount' | 'heldTypeCount'> | undefined,
): void {
  const family = registry.gauge({
    name: 'bigfleet_shard_brakes',
    help: 'Needs and instance types that are held off because their Configures fail in a row.',
    labels: { subject: ['need', 'type'] },
  });
  registry.onCollect(() => {
    family.labels({ subject: 'need' }).set(brake?.heldNeedCount ?? 0);
    family.labels({ subject: 'type' }).set(brake?.heldTypeCount ?? 0);
  });
}

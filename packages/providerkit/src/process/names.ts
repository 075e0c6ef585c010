// The names that follow from a provider's own: derived in one place, so that a copied template gets
// all of them from its folder.

import type { FlagTable } from '@bigfleet/process/flags';
import type { ProviderDefinition } from './definition.ts';

export interface ProviderNames {
  /** The process, e.g. `bigfleet-provider-hetzner`. */
  readonly command: string;
  readonly label: string;
  readonly backendFlag: string;
  readonly realBackend: string;
  readonly metricPrefix: string;
}

export function namesOf<Own extends FlagTable>(definition: ProviderDefinition<Own>): ProviderNames {
  const { name } = definition;
  return {
    command: `bigfleet-provider-${name}`,
    label: definition.label ?? name,
    backendFlag: definition.backendFlag ?? `${name}-backend`,
    realBackend: definition.realBackend ?? name,
    metricPrefix: `bigfleet_${definition.metricPrefix ?? name.replaceAll('-', '_')}`,
  };
}

// The five lanes (conformance §4) and which of them judges a behaviour.

import { unreachable } from '@bigfleet/base';
import type { Behaviour, Profile } from '../catalogue/behaviour.ts';

export const LANES = ['baseline', 'extension', 'fault', 'durable', 'scale'] as const;
export type LaneName = (typeof LANES)[number];

export function laneOf(behaviour: Behaviour): LaneName {
  switch (behaviour.capability) {
    case 'Fault':
      return 'fault';
    case 'Durable':
      return 'durable';
    case 'Scale':
      return 'scale';
    case '':
    case 'Delete':
    case 'SinceRevision':
      return 'extension';
    default:
      return unreachable(behaviour.capability);
  }
}

/** The lane that must be clean, besides the baseline, before the profile is certified. */
export function laneOfProfile(profile: Profile): LaneName {
  return profile === 'fault' || profile === 'durable' || profile === 'scale'
    ? profile
    : 'extension';
}

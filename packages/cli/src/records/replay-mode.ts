// How a replay evaluates, for every verb that replays.

import type { ReplayMode } from '@bigfleet/engine';
import { type Flag, oneOf } from '@bigfleet/process/flags';

export const replayModeFlag: Flag<ReplayMode> = oneOf(
  'recorded',
  ['recorded', 'incremental', 'full'],
  'Evaluate as it was recorded, never in full, or always in full; all three must agree.',
);

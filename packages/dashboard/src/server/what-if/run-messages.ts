// What the thread of a what-if run is given, and what it tells.

import type { WhatIfAnswer } from '@bigfleet/engine';

export interface RunTask {
  readonly directory: string;
  /** Checked. */
  readonly changes: readonly string[];
  readonly seed: string;
}

export type RunMessage =
  | { readonly kind: 'progress'; readonly progress: number }
  | { readonly kind: 'refused'; readonly code: string; readonly text: string }
  | {
      readonly kind: 'done';
      readonly answer: WhatIfAnswer;
      /** When the newest trace was written last. */
      readonly endMs: number;
    };

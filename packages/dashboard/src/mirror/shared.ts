// What the shards of a fleet share: tables of texts and classes, bounds, logs, and those who listen.

import type { ModelEvent } from '../facts.ts';
import type { Classes } from './classes.ts';
import type { DecisionLog } from './decision-log.ts';
import type { Exposure } from './exposure.ts';
import type { HistoryBudget } from './history.ts';
import type { Texts } from './texts.ts';
import type { Transitions } from './transitions.ts';
import type { UndoWriter } from './undo.ts';

export interface Shared {
  readonly nowMs: () => number;
  readonly texts: Texts;
  readonly classes: Classes;
  readonly undo: UndoWriter;
  readonly budget: HistoryBudget;
  readonly log: DecisionLog;
  readonly transitions: Transitions;
  readonly exposure: Exposure;
  /** A step has been added. */
  stepped(atMs: number): void;
  changed(): void;
  tell(event: ModelEvent): void;
}

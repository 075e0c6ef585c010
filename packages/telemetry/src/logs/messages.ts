// Stable messages: text and keys that runbooks and dashboards search for. Each is declared once, with
// its level and, in its type, its keys, and logged through `Logger.event`, so that a spelling cannot
// drift and a key cannot be forgotten. The shared table of the observability spec is in
// stable-messages.ts.

import type { LogValue } from './fields.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** What a message takes: its keys, and possibly its optional ones. */
export type MessageFields<K extends string, O extends string> = Readonly<Record<K, LogValue>> &
  Readonly<Partial<Record<O, LogValue>>>;

export interface LogMessage<K extends string, O extends string = never> {
  readonly level: LogLevel;
  readonly text: string;
  /** Never there: what the compiler knows of the keys. */
  readonly fields?: MessageFields<K, O>;
}

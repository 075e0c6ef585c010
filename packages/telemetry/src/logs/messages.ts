// Stable messages: text and keys that runbooks and dashboards search for. Each is declared once, with
// its level and keys, and logged through `Logger.event`, so that a spelling cannot drift and a key
// cannot be forgotten. Packages declare their own with `defineMessage`; the shared table of the
// observability spec is in stable-messages.ts.

import { assert } from '@bigfleet/base';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LogMessage<K extends string, O extends string = never> {
  readonly level: LogLevel;
  readonly text: string;
  readonly keys: readonly K[];
  /** Keys that a record may leave out. */
  readonly optional: readonly O[];
}

export interface LogMessageDeclaration<K extends string, O extends string> {
  readonly level: LogLevel;
  readonly text: string;
  readonly keys: readonly K[];
  readonly optional?: readonly O[];
}

export function defineMessage<const K extends string = never, const O extends string = never>(
  declaration: LogMessageDeclaration<K, O>,
): LogMessage<K, O> {
  assert(declaration.text.length > 0, 'a message has a text');
  return { ...declaration, optional: declaration.optional ?? [] };
}

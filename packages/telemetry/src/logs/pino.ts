// The one file that knows pino: JSON records with levels. Its destination stream is not used: with
// an asynchronous write under way it loses or reorders the last lines at exit, and its flushSync
// retries a broken pipe for ever (sonic-boom 4.2), so that a process whose stderr is gone never ends.

import { pino } from 'pino';
import type { PlainValue } from './fields.ts';
import type { LogLevel } from './messages.ts';

/** pino's own line, parsed: the three keys of every record, then its fields. */
export type JsonRecord = {
  readonly time: string;
  readonly level: string;
  readonly msg: string;
} & Readonly<Record<string, PlainValue>>;

export interface JsonLog {
  write(level: LogLevel, fields: Readonly<Record<string, PlainValue>>, msg: string): void;
  isEnabled(level: LogLevel): boolean;
}

export interface JsonLogOptions {
  readonly level: LogLevel;
  /** RFC 3339. */
  readonly now: () => string;
  readonly writeLine: (line: string) => void;
}

export function createJsonLog(options: JsonLogOptions): JsonLog {
  const backend = pino(
    {
      level: options.level,
      base: null,
      messageKey: 'msg',
      serializers: {},
      formatters: { level: (label) => ({ level: label.toUpperCase() }) },
      timestamp: () => `,"time":"${options.now()}"`,
    },
    { write: options.writeLine },
  );
  return {
    write: (level, fields, msg) => backend[level](fields, msg),
    isEnabled: (level) => backend.isLevelEnabled(level),
  };
}

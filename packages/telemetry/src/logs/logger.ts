// Structured logging, one interface. Records are flat, one line each, stamped by the
// injected clock, and carry the fields of their logger (`component=`, `shard_id=`, …) first. Both
// formats print the same keys and values. A field overrides a logger's field of the same name: one
// record never has a key twice.

import type { Clock } from '@bigfleet/base';
import { type LogFields, plainFields, plainText, type PlainValue } from './fields.ts';
import { formatLogfmt } from './logfmt.ts';
import type { LogLevel, LogMessage, MessageFields } from './messages.ts';
import { createJsonLog, type JsonLog, type JsonRecord } from './pino.ts';

export const LOG_FORMATS = ['text', 'json'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

export interface Logger {
  debug(msg: string, fields?: LogFields): void;
  info(msg: string, fields?: LogFields): void;
  warn(msg: string, fields?: LogFields): void;
  error(msg: string, fields?: LogFields): void;
  log(level: LogLevel, msg: string, fields?: LogFields): void;
  /** A message of the catalogue, at its level, with its keys. */
  event<K extends string, O extends string>(
    message: LogMessage<K, O>,
    fields: MessageFields<K, O>,
  ): void;
  child(fields: LogFields): Logger;
}

export interface LoggerOptions {
  readonly clock: Clock;
  readonly sink: LogSink;
  readonly format?: LogFormat;
  readonly level?: LogLevel;
  readonly fields?: LogFields;
}

export function createLogger(options: LoggerOptions): Logger {
  const { clock, sink, format = 'text', level = 'info' } = options;
  // Rewrites the JSON line, so that both formats have one source.
  const writeLine = (line: string): void =>
    sink.write(format === 'json' ? line : `${formatLogfmt(JSON.parse(line) as JsonRecord)}\n`);
  const backend = createJsonLog({ level, now: () => rfc3339Millis(clock), writeLine });
  return new FieldLogger(backend, plainFields(options.fields ?? {}));
}

class FieldLogger implements Logger {
  readonly #backend: JsonLog;
  readonly #fields: Readonly<Record<string, PlainValue>>;

  constructor(backend: JsonLog, fields: Readonly<Record<string, PlainValue>>) {
    this.#backend = backend;
    this.#fields = fields;
  }

  debug(msg: string, fields?: LogFields): void {
    this.log('debug', msg, fields);
  }

  info(msg: string, fields?: LogFields): void {
    this.log('info', msg, fields);
  }

  warn(msg: string, fields?: LogFields): void {
    this.log('warn', msg, fields);
  }

  error(msg: string, fields?: LogFields): void {
    this.log('error', msg, fields);
  }

  log(level: LogLevel, msg: string, fields: LogFields = {}): void {
    if (!this.#backend.isEnabled(level)) return;
    this.#backend.write(level, { ...this.#fields, ...plainFields(fields) }, plainText(msg));
  }

  event<K extends string, O extends string>(
    message: LogMessage<K, O>,
    fields: MessageFields<K, O>,
  ): void {
    this.log(message.level, message.text, fields);
  }

  child(fields: LogFields): Logger {
    return new FieldLogger(this.#backend, { ...this.#fields, ...plainFields(fields) });
  }
}

function rfc3339Millis(clock: Clock): string {
  return new Date(Number(clock.unixNanos() / 1_000_000n)).toISOString();
}

// Where log lines go, as an argument: production passes stderr (stderr.ts), tests capture.

export interface LogSink {
  /** Whole lines, newline included. */
  write(lines: string): void;
  /** Writes what is buffered, now, blocking within a bound. For the end of a process. */
  flushSync(): void;
}

export interface CapturedLog extends LogSink {
  /** Whole lines without their newline. */
  readonly lines: readonly string[];
}

/** For tests. */
export function captureSink(): CapturedLog {
  const lines: string[] = [];
  return {
    lines,
    write: (written) => {
      lines.push(...written.replace(/\n$/, '').split('\n'));
    },
    flushSync: () => {},
  };
}

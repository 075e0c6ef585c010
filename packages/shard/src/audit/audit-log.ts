// The audit log: JSON lines in an append-only file, written by one background writer from a bounded
// buffer, so that a slow or full disk never holds up a decision. What does not fit, and what cannot
// be written, is dropped and counted. Rotation is the administrator's: after moving the file away,
// `reopen` (SIGHUP) makes the writer open the path anew before its next write.

import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { BigFleetError, BoundedQueue, type Clock, describeThrown } from '@bigfleet/base';
import type { Counter, Logger, MetricRegistry } from '@bigfleet/telemetry';
import { actionLine, type ActionRecord, adminLine, type AdminRecord } from './audit-lines.ts';

const MAX_BUFFERED_LINES = 16_384;
const MAX_LINES_PER_WRITE = 512;

export interface AuditLog {
  action(record: ActionRecord): void;
  admin(record: AdminRecord): void;
  reopen(): void;
  /** Resolves when everything recorded so far is written or given up. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

/** Without --audit-log. */
export const noAuditLog: AuditLog = {
  action: () => {},
  admin: () => {},
  reopen: () => {},
  flush: () => Promise.resolve(),
  close: () => Promise.resolve(),
};

export interface FileAuditLogOptions {
  readonly path: string;
  readonly open: OpenAppendFile;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly dropped: Counter;
}

/** Opens the file first: a path that cannot be written is a start-up error, not a silent loss. */
export async function openAuditLog(options: FileAuditLogOptions): Promise<AuditLog> {
  const { open, path } = options;
  try {
    return new FileAuditLog(options, await open(path));
  } catch (cause) {
    const text = `${path} cannot be opened: ${describeThrown(cause)}`;
    throw new BigFleetError('audit_log_unusable', text, { cause });
  }
}

class FileAuditLog implements AuditLog {
  readonly #options: FileAuditLogOptions;
  readonly #lines = new BoundedQueue<string>(MAX_BUFFERED_LINES);
  #file: AppendFile | undefined;
  #writing: Promise<void> | undefined;
  #mustReopen = false;
  #hasFailed = false;

  constructor(options: FileAuditLogOptions, file: AppendFile) {
    this.#options = options;
    this.#file = file;
  }

  action(record: ActionRecord): void {
    this.#push(actionLine(this.#options.clock.unixNanos(), record));
  }

  admin(record: AdminRecord): void {
    this.#push(adminLine(this.#options.clock.unixNanos(), record));
  }

  reopen(): void {
    this.#mustReopen = true;
  }

  async flush(): Promise<void> {
    await this.#writing;
  }

  async close(): Promise<void> {
    await this.flush();
    await this.#closeFile();
  }

  #push(line: string): void {
    if (this.#lines.push(line) === 'refused') this.#options.dropped.inc();
    this.#writing ??= this.#write();
  }

  async #write(): Promise<void> {
    // Let the caller finish first: one write then takes all lines of a cycle.
    await Promise.resolve();
    try {
      for (let batch = this.#takeBatch(); batch.length > 0; batch = this.#takeBatch()) {
        await this.#writeBatch(batch);
      }
    } finally {
      this.#writing = undefined;
    }
  }

  #takeBatch(): string[] {
    const batch: string[] = [];
    while (batch.length < MAX_LINES_PER_WRITE) {
      const line = this.#lines.shift();
      if (line === undefined) break;
      batch.push(line);
    }
    return batch;
  }

  async #writeBatch(batch: readonly string[]): Promise<void> {
    try {
      const file = await this.#current();
      await file.append(batch.join(''));
      this.#hasFailed = false;
    } catch (error) {
      this.#options.dropped.inc(batch.length);
      this.#report(error);
      // Part of the batch may be on disk; a fresh handle at least starts at the file's real end.
      this.#mustReopen = true;
    }
  }

  async #current(): Promise<AppendFile> {
    if (this.#mustReopen) await this.#closeFile();
    this.#mustReopen = false;
    this.#file ??= await this.#options.open(this.#options.path);
    return this.#file;
  }

  async #closeFile(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    try {
      await file?.close();
    } catch (error) {
      this.#report(error);
    }
  }

  /** Once per outage: a full disk must not fill the other log too. */
  #report(error: unknown): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    const { logger, path } = this.#options;
    logger.error('audit log cannot be written', { path, err: describeThrown(error) });
  }
}

// A file that only grows, behind an interface, so that tests fill the disk on request.

export interface AppendFile {
  /** All of it, or it rejects. */
  append(text: string): Promise<void>;
  close(): Promise<void>;
}

export type OpenAppendFile = (path: string) => Promise<AppendFile>;

const MODE = 0o644;

export const openAppendFile: OpenAppendFile = async (path) => {
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT;
  const handle = await open(path, flags, MODE);
  return {
    append: (text) => handle.appendFile(text, 'utf8'),
    close: () => handle.close(),
  };
};

// observability §3.8

export function createAuditDropCounter(registry: MetricRegistry): Counter {
  return registry.counter({
    name: 'bigfleet_shard_audit_records_dropped_total',
    help: 'Audit lines lost because the buffer was full or the file could not be written.',
  });
}

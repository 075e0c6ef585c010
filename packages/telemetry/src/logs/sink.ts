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

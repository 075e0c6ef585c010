// A program of one cluster from its start to its end (kubernetes §5.5, §6.1): a bug that it cannot go on
// after is told, and the stop keeps the probes until everything else is down.

import { BigFleetError, describeThrown } from '@bigfleet/base';
import type { HttpServer, Logger, LogMessage } from '@bigfleet/telemetry';
import type { FirstSync } from '../reflector/first-sync.ts';

const HTTP_CLOSE_WITHIN_MS = 1_000;

export interface RunningProgram {
  /** Resolves with the bug that it cannot go on after. */
  readonly failed: Promise<Error>;
  /** Undefined when the probes are off. */
  readonly metricsAddress: string | undefined;
  /** With the fields of every line of this process. */
  readonly logger: Logger;
  /** Idempotent. */
  stop(): Promise<void>;
}

export interface ProgramParts {
  readonly logger: Logger;
  readonly sync: FirstSync;
  readonly http: HttpServer;
  /** Ends when it is told to; rejects with a bug only. */
  readonly running: Promise<unknown>;
  /** Tells `running` to end. */
  readonly end: (reason: BigFleetError) => Promise<void> | void;
  /** Closed last. */
  readonly opened: AsyncDisposableStack;
  readonly stopped: LogMessage<never>;
}

export function runningProgram(parts: ProgramParts): RunningProgram {
  const { logger, sync, http, running, end, opened, stopped } = parts;
  const failed = Promise.withResolvers<Error>();
  running.catch((bug: unknown) =>
    failed.resolve(bug instanceof Error ? bug : new Error(describeThrown(bug))),
  );
  const stopAll = async (): Promise<void> => {
    sync.stop();
    await end(new BigFleetError('cancelled', 'the program stops'));
    await running.catch(() => undefined);
    await http.close(HTTP_CLOSE_WITHIN_MS);
    await opened.disposeAsync();
    logger.event(stopped, {});
  };
  let stopping: Promise<void> | undefined;
  return {
    failed: failed.promise,
    metricsAddress: http.address,
    logger,
    stop: () => (stopping ??= stopAll()),
  };
}

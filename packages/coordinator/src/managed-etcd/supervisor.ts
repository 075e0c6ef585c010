// Keeps one child etcd running: starts it, starts it again with a growing pause when it ends, stops
// it when told. It never judges the cluster: an etcd that runs without a quorum is left alone,
// because restarting it cannot bring the quorum back.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Backoff, type Runtime, runWithDeadline, sleep } from '@bigfleet/base';

const stopWithinMs = 10_000;
/** A child that lived this long was healthy: the next failure starts from the short pause again. */
const healthyAfterMs = 60_000;
const maxLineLength = 4_096;

export interface SupervisorOptions {
  readonly runtime: Runtime;
  readonly binary: string;
  readonly args: readonly string[];
  readonly onStarted?: (pid: number) => void;
  readonly onLine?: (line: string) => void;
  /** It ended without being asked, or could not be started; it is started again after the pause. */
  readonly onEnded?: (detail: string, pauseMs: number) => void;
}

export class EtcdSupervisor {
  readonly #options: SupervisorOptions;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  #child: ChildProcess | undefined;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#running = this.#runForEver();
  }

  /** SIGTERM, then SIGKILL after 10 s. Resolves when it is gone. */
  async stop(): Promise<void> {
    if (!this.#stopping.signal.aborted) {
      this.#stopping.abort();
      this.#child?.kill('SIGTERM');
    }
    const { runtime } = this.#options;
    try {
      await runWithDeadline(runtime, { ms: stopWithinMs }, () => this.#running);
    } catch {
      // Only the deadline can fail here.
      this.#child?.kill('SIGKILL');
      await this.#running;
    }
  }

  async #runForEver(): Promise<void> {
    const { runtime, onEnded } = this.#options;
    const { signal } = this.#stopping;
    const random = runtime.random.stream('etcd-supervisor');
    const backoff = new Backoff(random, { initialMs: 500, maxMs: 15_000 });
    while (!signal.aborted) {
      const beganMs = runtime.clock.monotonicMs();
      const detail = await this.#runOnce();
      if (signal.aborted) return;
      if (runtime.clock.monotonicMs() - beganMs > healthyAfterMs) backoff.reset();
      const pauseMs = backoff.nextMs();
      onEnded?.(detail, pauseMs);
      await sleep(runtime, pauseMs, signal).catch(() => undefined);
    }
  }

  async #runOnce(): Promise<string> {
    const { binary, args, onStarted, onLine } = this.#options;
    const child = spawn(binary, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) onLines(stream, onLine ?? (() => {}));
    const ended = new Promise<string>((resolve) => {
      child.once('exit', (code, by) => resolve(by === null ? `exit code ${code}` : `signal ${by}`));
      child.once('error', (error) => resolve(error.message));
    });
    const { pid } = child;
    if (pid !== undefined) onStarted?.(pid);
    const detail = await ended;
    if (pid !== undefined && child.exitCode === null && child.signalCode === null) {
      await once(child, 'exit');
    }
    this.#child = undefined;
    return detail;
  }
}

/** Lines of a stream; a line that never ends is cut, so that the buffer has a bound. */
function onLines(stream: NodeJS.ReadableStream, onLine: (line: string) => void): void {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = (lines.pop() ?? '').slice(0, maxLineLength);
    for (const line of lines) if (line !== '') onLine(line.slice(0, maxLineLength));
  });
}

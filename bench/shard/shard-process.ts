// The shard under measurement: `bigfleet shard` itself, as it is deployed, mTLS on every hop,
// records, metrics and raw samples on. Everything is read from outside: its metrics, its samples
// file, and the kernel's numbers about its process.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readSamples } from '@bigfleet/telemetry';
import { http } from '../../test/toolkit/index.ts';
import type { PemFiles } from './order.ts';
import { RAISE_AND_RUN } from '../harness/peer-process.ts';

/** Run as a process, never imported. */
const MAIN = path.join(import.meta.dirname, '..', '..', 'packages', 'cli', 'src', 'main.ts');
const LISTENING = / msg=listening .* addr=(\S+)/;
const SERVING = / msg="metrics serving" .* addr=(\S+)/;
const LAG_MAX = 'nodejs_eventloop_lag_max_seconds{thread="main"}';
/** Samples of cycles with a safety pass. */
export const SAFETY = 'cycle_safety';
const POLL_MS = 20;
const STOP_WITHIN_MS = 20_000;
const START_WITHIN_MS = 120_000;
/** Behind the name in /proc/<pid>/stat, in hundredths of a second; the kernel's time follows. */
const UTIME_FIELD = 11;
const MS_PER_CPU_TICK = 10;

export interface ShardProcessOptions {
  readonly folder: string;
  readonly providerAddress: string;
  readonly tls: PemFiles;
  /** Beside those that every bench needs. */
  readonly flags: readonly string[];
}

export interface UnixSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface StartTimes {
  /** Since the process was spawned. */
  readonly listeningMs: number;
  readonly readyMs: number;
  readonly firstCycleMs: number;
  /** How long its sockets stood still at most. */
  readonly loopDelayMaxMs: number;
}

export class ShardProcess {
  readonly #child: ChildProcess;
  readonly #samples: string;
  readonly #startMs = performance.now();
  #output = '';
  #isEnded = false;
  address = '';
  #metrics = '';

  constructor({ folder, providerAddress, tls, flags }: ShardProcessOptions) {
    const dataDir = path.join(folder, 'shard');
    this.#samples = path.join(folder, 'samples');
    rmSync(dataDir, { recursive: true, force: true });
    rmSync(this.#samples, { force: true });
    const args = [
      MAIN,
      'shard',
      '--listen=127.0.0.1:0',
      '--metrics-addr=127.0.0.1:0',
      `--data-dir=${dataDir}`,
      `--provider=bench=${providerAddress}`,
      `--trace-samples=${this.#samples}`,
      `--tls-cert=${tls.cert}`,
      `--tls-key=${tls.key}`,
      `--tls-ca=${tls.ca}`,
      '--incremental-reconcile',
      ...flags,
    ];
    this.#child = spawn('bash', ['-c', RAISE_AND_RUN, process.execPath, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.#output = (this.#output + chunk.toString()).slice(-200_000);
      });
    }
    this.#child.once('exit', () => {
      this.#isEnded = true;
    });
    process.once('exit', this.#kill);
  }

  /** Until the first cycle is complete. */
  async started(): Promise<StartTimes> {
    const elapsedMs = (): number => performance.now() - this.#startMs;
    this.address = await this.#until(() => LISTENING.exec(this.#output)?.[1]);
    const listeningMs = elapsedMs();
    this.#metrics = await this.#until(() => SERVING.exec(this.#output)?.[1]);
    await this.#until(async () => {
      const { status } = await http({ url: `http://${this.#metrics}/readyz` });
      return status === 200 ? true : undefined;
    });
    const readyMs = elapsedMs();
    let loopDelayMaxMs = 0;
    await this.#until(async () => {
      const lines = await this.#scrape();
      loopDelayMaxMs = Math.max(loopDelayMaxMs, 1_000 * valueOf(lines, LAG_MAX));
      return valueOf(lines, 'bigfleet_shard_cycles_total') >= 1 ? true : undefined;
    });
    return { listeningMs, readyMs, firstCycleMs: elapsedMs(), loopDelayMaxMs };
  }

  async metric(series: string): Promise<number> {
    return valueOf(await this.#scrape(), series);
  }

  /** Summed over the labels. */
  async total(family: string): Promise<number> {
    const lines = await this.#scrape();
    return lines
      .filter((line) => line.startsWith(`${family}{`) || line.startsWith(`${family} `))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
  }

  /** Until a second passed in which nothing was decided and nothing is short. */
  async quiet(): Promise<void> {
    let before = -1;
    await this.#until(async () => {
      const actions = await this.total('bigfleet_shard_actions_total');
      const shortfalls = await this.metric('bigfleet_shard_shortfalls');
      const isQuiet = actions === before && shortfalls === 0;
      before = actions;
      await sleep(1_000);
      return isQuiet ? true : undefined;
    });
  }

  /** Starts the window of the lag metrics anew. */
  async resetLoopDelay(): Promise<void> {
    await this.#scrape();
  }

  /** Of the main thread since the last scrape. */
  async loopDelayP99Ms(): Promise<number> {
    return 1_000 * (await this.metric('nodejs_eventloop_lag_p99_seconds{thread="main"}'));
  }

  /**
   * Raw samples of a cycle's series that began after a moment of Unix time, in milliseconds; cycles
   * with a safety pass apart, as in the engine's benches.
   */
  async samplesSince(name: string, unixMs: number): Promise<Float64Array> {
    const [samples] = await this.samplesIn(name, [{ fromMs: unixMs, toMs: Infinity }]);
    if (samples === undefined) throw new Error(`no samples of ${name}`);
    return samples;
  }

  /** The same for several spans, each in its own array: what lies between them is left out. */
  async samplesIn(name: string, spans: readonly UnixSpan[]): Promise<readonly Float64Array[]> {
    // They reach the file within a second.
    await sleep(1_500);
    const { series } = await readSamples(this.#samples);
    const found = series.get(name);
    if (found === undefined) throw new Error(`no samples of ${name}`);
    const safetyMs = new Set(name === SAFETY ? [] : series.get(SAFETY)?.startUnixMs);
    return spans.map(({ fromMs, toMs }) => {
      const kept = found.seconds.filter((_, at) => {
        const startMs = found.startUnixMs[at] ?? 0;
        return startMs >= fromMs && startMs < toMs && !safetyMs.has(startMs);
      });
      return kept.map((seconds) => seconds * 1_000);
    });
  }

  /** Of the processor, all threads: what other work beside it does not change much. */
  cpuMs(): number {
    const stat = readFileSync(`/proc/${this.#child.pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[UTIME_FIELD]) + Number(fields[UTIME_FIELD + 1])) * MS_PER_CPU_TICK;
  }

  rssBytes(): number {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1_024;
  }

  peakRssBytes(): number {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8');
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1_024;
  }

  async stop(): Promise<void> {
    process.removeListener('exit', this.#kill);
    if (this.#isEnded) return;
    const exited = once(this.#child, 'exit', { signal: AbortSignal.timeout(STOP_WITHIN_MS) });
    this.#kill();
    await exited;
  }

  readonly #kill = (): void => {
    this.#child.kill('SIGKILL');
  };

  async #scrape(): Promise<readonly string[]> {
    const { body } = await http({ url: `http://${this.#metrics}/metrics` });
    return body.split('\n');
  }

  async #until<T>(poll: () => T | undefined | Promise<T | undefined>): Promise<T> {
    const deadlineMs = performance.now() + START_WITHIN_MS;
    while (performance.now() < deadlineMs) {
      if (this.#isEnded) throw new Error(`the shard ended:\n${this.#output}`);
      const value = await poll();
      if (value !== undefined) return value;
      await sleep(POLL_MS);
    }
    throw new Error(`the shard did not come so far:\n${this.#output.slice(-4_000)}`);
  }
}

function valueOf(lines: readonly string[], series: string): number {
  const line = lines.find((each) => each.startsWith(`${series} `));
  return line === undefined ? Number.NaN : Number(line.slice(series.length + 1));
}

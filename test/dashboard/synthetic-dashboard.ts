// The dashboard's real server over a synthetic fleet in this process. Cycles come when the test says so, with
// the times that it says, so that a picture stands still while it is looked at.

import path from 'node:path';
import { realRuntime } from '@bigfleet/base/real';
import { createFleet, type Fleet, serveFleet } from '@bigfleet/dashboard';
import {
  nobodyOutside,
  SMALL,
  syntheticAnnotations,
  SyntheticFleet,
} from '@bigfleet/dashboard/testing';
import { createLogger, createReadiness, createRegistry, stderrSink } from '@bigfleet/telemetry';
import { http, unixMs } from '../toolkit/index.ts';

/** Of `make web`. */
const WEB_DIR: string = path.join(import.meta.dirname, '../../packages/dashboard/dist/web');

export interface SyntheticDashboardOptions {
  /** 0 takes a free one. */
  readonly port?: number;
  readonly size?: ConstructorParameters<typeof SyntheticFleet>[0];
  /** Of the first snapshot; now when absent. */
  readonly beginMs?: number;
  /** What the server takes for now; the real time when absent. */
  readonly nowMs?: () => number;
}

export class SyntheticDashboard implements AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly fleet: Fleet;
  readonly #synthetic: SyntheticFleet;
  readonly #close: () => Promise<void>;
  #closing: Promise<void> | undefined;
  #next = 0;

  constructor(parts: {
    readonly address: string;
    readonly fleet: Fleet;
    readonly synthetic: SyntheticFleet;
    readonly close: () => Promise<void>;
  }) {
    this.url = `http://${parts.address}`;
    this.port = Number(new URL(this.url).port);
    this.fleet = parts.fleet;
    this.#synthetic = parts.synthetic;
    this.#close = parts.close;
  }

  get shardCount(): number {
    return this.#synthetic.shardCount;
  }

  /** One cycle of every shard. */
  step(atMs: number = unixMs()): void {
    this.#synthetic.step(atMs);
  }

  /** One cycle of one shard, each in its turn. */
  stepNext(atMs: number = unixMs()): void {
    this.#synthetic.stepOne(this.#next, atMs);
    this.#next += 1;
  }

  /** An answer of the API, as any reader gets it. */
  async ask<T>(view: string): Promise<T> {
    return await askApi<T>(this.url, view);
  }

  /** Idempotent. */
  [Symbol.asyncDispose](): Promise<void> {
    return (this.#closing ??= this.#close());
  }
}

export async function askApi<T>(origin: string, view: string): Promise<T> {
  const { status, body } = await http({ url: `${origin}/api/v1/${view}` });
  if (status !== 200) throw new Error(`${view}: ${status} ${body}`);
  return JSON.parse(body) as T;
}

export async function startSynthetic(
  options: SyntheticDashboardOptions = {},
): Promise<SyntheticDashboard> {
  const { port = 0, size = SMALL, beginMs = unixMs(), nowMs = unixMs } = options;
  const real = realRuntime();
  const clock = { ...real.clock, unixNanos: () => BigInt(nowMs()) * 1_000_000n };
  const runtime = { ...real, clock };
  const registry = createRegistry();
  const sink = stderrSink({ timers: runtime.timers, registry });
  const fleet = createFleet({
    nowMs,
    isSimulated: true,
    outside: nobodyOutside,
    annotations: syntheticAnnotations,
  });
  const synthetic = new SyntheticFleet(size);
  synthetic.begin(fleet, beginMs);
  const readiness = createReadiness({ reason: 'starting', latched: true });
  const served = await serveFleet({
    runtime,
    logger: createLogger({ clock: runtime.clock, sink, level: 'warn' }),
    registry,
    fleet,
    readiness,
    listen: { kind: 'listen', host: '127.0.0.1', port },
    webDir: WEB_DIR,
    allowedHosts: [],
    maxStreams: 64,
    version: '0.0.0-test',
    outsideVersion: () => 0,
    // Uncaught, it ends the test file with the bug's own stack.
    onBug: (bug) => {
      throw bug;
    },
  });
  readiness.markReady();
  return new SyntheticDashboard({
    address: served.address,
    fleet,
    synthetic,
    close: () => served.close(),
  });
}

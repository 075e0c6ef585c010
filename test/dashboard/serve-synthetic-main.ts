// A dashboard over a fleet that nobody runs, for work on the pages, for browser tests and for benches:
//
//   node test/dashboard/serve-synthetic-main.ts [--port=8760] [--size=small|ceiling] [--cycle-ms=1000]
//
// Every decision is a real engine's. Prints its URL when it serves; Ctrl-C ends it.

import path from 'node:path';
import { parseArgs } from 'node:util';
import { realRuntime } from '@bigfleet/base/real';
import { createFleet, serveFleet } from '@bigfleet/dashboard';
import {
  CEILING,
  nobodyOutside,
  SMALL,
  syntheticAnnotations,
  SyntheticFleet,
} from '@bigfleet/dashboard/testing';
import { createLogger, createReadiness, createRegistry, stderrSink } from '@bigfleet/telemetry';

const WEB_DIR = path.join(import.meta.dirname, '../../packages/dashboard/dist/web');
const SIZES = { small: SMALL, ceiling: CEILING } as const;

const { values, positionals } = parseArgs({
  options: {
    port: { type: 'string', default: '8760' },
    size: { type: 'string', default: 'small' },
    seed: { type: 'string', default: 'synthetic' },
    'cycle-ms': { type: 'string', default: '1000' },
    'web-dir': { type: 'string', default: WEB_DIR },
  },
  allowPositionals: true,
});
const size = Object.hasOwn(SIZES, values.size)
  ? SIZES[values.size as keyof typeof SIZES]
  : undefined;
if (size === undefined) throw new Error(`--size is one of ${Object.keys(SIZES).join(', ')}`);
const port = Number(positionals[0] ?? values.port);
const cycleMs = Number(values['cycle-ms']);

const runtime = realRuntime();
const registry = createRegistry();
const sink = stderrSink({ timers: runtime.timers, registry });
const logger = createLogger({ clock: runtime.clock, sink, level: 'warn' });
const nowMs = (): number => Number(runtime.clock.unixNanos() / 1_000_000n);
const fleet = createFleet({
  nowMs,
  isSimulated: true,
  outside: nobodyOutside,
  annotations: syntheticAnnotations,
});
const synthetic = new SyntheticFleet({ ...size, seed: values.seed });
synthetic.begin(fleet, nowMs());
const readiness = createReadiness({ reason: 'starting', latched: true });
readiness.markReady();
const served = await serveFleet({
  runtime,
  logger,
  registry,
  fleet,
  readiness,
  listen: { kind: 'listen', host: '127.0.0.1', port },
  webDir: path.resolve(values['web-dir']),
  allowedHosts: [],
  maxStreams: 64,
  version: '0.1.0',
  outsideVersion: () => 0,
  onBug: (bug) => {
    throw bug;
  },
});
process.stdout.write(`http://${served.address}/\n`);

/** Shards take turns, so that every one of them has a cycle in each interval. */
const everyMs = cycleMs / synthetic.shardCount;
const next = (at: number): void => {
  synthetic.stepOne(at, nowMs());
  runtime.timers.after(everyMs, () => next(at + 1));
};
runtime.timers.after(everyMs, () => next(0));

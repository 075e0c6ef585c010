// How a client's process measures itself; the same for both sides.

import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { setImmediate as turn } from 'node:timers/promises';
import type { ClientMemory, SyncReport } from './client-order.ts';

const NANOS_PER_MS = 1e6;
const MICROS_PER_MS = 1e3;
const RESOLUTION_MS = 1;

export async function timedSync(
  sync: () => Promise<void>,
  sizeOf: () => number,
): Promise<SyncReport> {
  const lag = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  lag.enable();
  const startMs = performance.now();
  const cpuBefore = process.cpuUsage();
  await sync();
  const ms = performance.now() - startMs;
  const { user, system } = process.cpuUsage(cpuBefore);
  lag.disable();
  const lagMs = (nanos: number): number => Math.max(0, nanos / NANOS_PER_MS - RESOLUTION_MS);
  return {
    ms,
    cpuMs: (user + system) / MICROS_PER_MS,
    size: sizeOf(),
    lagP99Ms: lagMs(lag.percentile(99)),
    lagMaxMs: lagMs(lag.max),
  };
}

export async function memoryNow(): Promise<ClientMemory> {
  const collect = globalThis.gc;
  if (collect === undefined) throw new Error('memory is measured with node --expose-gc');
  for (let round = 0; round < 3; round++) {
    collect();
    await turn();
  }
  const { rss, heapUsed } = process.memoryUsage();
  const peak = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'));
  if (peak === null) throw new Error('peak memory is read from /proc/self/status, as on Linux');
  return { rssBytes: rss, heapBytes: heapUsed, peakRssBytes: Number(peak[1]) * 1_024 };
}

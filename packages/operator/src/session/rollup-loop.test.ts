// Proves the grid of the roll-up ticks: no drift, missed ticks are skipped, and failing cycles are
// repeated by the next tick.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Runtime, Timer } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';
import { captureSink, createLogger, createRegistry } from '@bigfleet/telemetry';
import { DemandIndex } from '../rollup/demand-index.ts';
import type { ClusterPort } from './cluster-port.ts';
import type { OperatorContext } from './context.ts';
import { createOperatorMetrics } from './metrics.ts';
import { RollupBuilder } from './rollup-builder.ts';
import { RollupLoop } from './rollup-loop.ts';
import { defaultSessionSettings } from './settings.ts';
import { Supervisor } from './supervisor.ts';

/** A clock that a slow build can advance by itself, which virtual time cannot. */
class SlowTime {
  nowMs = 0;
  readonly #due: { atMs: number; fire: () => void }[] = [];
  readonly runtime: Runtime = {
    ...realRuntime({ seed: 'slow' }),
    clock: { monotonicMs: () => this.nowMs, unixNanos: () => BigInt(this.nowMs) * 1_000_000n },
    timers: { after: (ms, fire) => this.#after(ms, fire), turn: () => Promise.resolve() },
  };

  #after(delayMs: number, fire: () => void): Timer {
    const event = { atMs: this.nowMs + delayMs, fire };
    this.#due.push(event);
    return { cancel: () => void this.#due.splice(this.#due.indexOf(event), 1) };
  }

  fireNext(lateMs = 0): void {
    this.#due.sort((a, b) => a.atMs - b.atMs);
    const event = this.#due.shift();
    assert.ok(event !== undefined);
    this.nowMs = Math.max(this.nowMs, event.atMs) + lateMs;
    event.fire();
  }
}

function open(buildMs: () => number, index: () => DemandIndex | undefined) {
  const time = new SlowTime();
  const builtAt: number[] = [];
  const sink = captureSink();
  const logger = createLogger({ clock: time.runtime.clock, sink });
  const context: OperatorContext = {
    runtime: time.runtime,
    clusterId: 'c',
    cluster: {
      demand: () => {
        builtAt.push(time.nowMs);
        time.nowMs += buildMs();
        return index();
      },
      requestRefused: () => {},
    } as Partial<ClusterPort> as ClusterPort,
    metrics: createOperatorMetrics(createRegistry()),
    logger,
    settings: { ...defaultSessionSettings, maxRollupBytes: 1_000_000 },
    supervisor: new Supervisor(),
  };
  const enqueued: boolean[] = [];
  const loop = new RollupLoop(context, new RollupBuilder(context), ({ isPeriodic }) =>
    enqueued.push(isPeriodic),
  );
  return { time, loop, builtAt, enqueued, sink };
}

describe('RollupLoop', () => {
  it('keeps its grid however late timers fire and however long builds take', () => {
    const { time, loop, builtAt } = open(
      () => 700,
      () => new DemandIndex(),
    );
    loop.start();
    for (let n = 0; n < 4; n++) time.fireNext(40);
    assert.deepEqual(builtAt, [0, 10_040, 20_040, 30_040, 40_040]);
  });

  it('skips what a build overran, and does not queue it', () => {
    let buildMs = 0;
    const { time, loop, builtAt } = open(
      () => buildMs,
      () => new DemandIndex(),
    );
    loop.start();
    buildMs = 25_000;
    time.fireNext();
    buildMs = 0;
    time.fireNext();
    time.fireNext();
    assert.deepEqual(builtAt, [0, 10_000, 40_000, 50_000]);
  });

  it('survives failing cycles and names them', () => {
    let index: DemandIndex | undefined;
    const { time, loop, enqueued, sink } = open(
      () => 0,
      () => index,
    );
    loop.start();
    time.fireNext();
    index = new DemandIndex();
    time.fireNext();
    index = undefined;
    time.fireNext();
    assert.deepEqual(enqueued, [true]);
    const messages = sink.lines.map((line) => /msg="([^"]*)"/.exec(line)?.[1]);
    assert.deepEqual(messages, ['initial rollup failed', 'initial rollup failed', 'rollup failed']);
  });

  it('does nothing after its end', () => {
    const { loop, time, builtAt } = open(
      () => 0,
      () => new DemandIndex(),
    );
    loop.start();
    loop.stop();
    loop.demandChanged();
    assert.throws(() => time.fireNext());
    assert.deepEqual(builtAt, [0]);
  });
});

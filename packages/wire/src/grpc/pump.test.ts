// Proves that a pump pulls no faster than its sink takes, ends once, and cleans its source up.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { drainMicrotasks } from '@bigfleet/base/real';
import { Pump, type PumpSink } from './pump.ts';

class RecordingSink implements PumpSink {
  readonly written: number[] = [];
  readonly pending: (() => void)[] = [];
  readonly events: string[] = [];

  write(message: Uint8Array, done: () => void): void {
    this.written.push(message.length);
    this.pending.push(done);
  }

  sourceEnded(): void {
    this.events.push('ended');
  }

  sourceFailed(error: unknown): void {
    this.events.push(`failed ${String(error)}`);
  }

  cleanUpFailed(error: unknown): void {
    this.events.push(`clean-up ${String(error)}`);
  }
}

async function* sized(count: number, size: number): AsyncIterable<Uint8Array> {
  for (let i = 0; i < count; i += 1) yield new Uint8Array(size);
}

describe('pump', () => {
  it('stops pulling at the message bound and resumes as messages leave', async () => {
    const sink = new RecordingSink();
    new Pump(sized(10, 0), sink, { aheadBytes: 100, aheadMessageCount: 3 }).start();
    await drainMicrotasks();
    assert.equal(sink.written.length, 3);
    sink.pending.shift()?.();
    await drainMicrotasks();
    assert.equal(sink.written.length, 4);
  });

  it('stops pulling at the byte bound', async () => {
    const sink = new RecordingSink();
    new Pump(sized(10, 60), sink, { aheadBytes: 100, aheadMessageCount: 100 }).start();
    await drainMicrotasks();
    assert.equal(sink.written.length, 2);
  });

  it('reports the end after the last message', async () => {
    const sink = new RecordingSink();
    new Pump(sized(3, 1), sink, { aheadBytes: 100, aheadMessageCount: 10 }).start();
    await drainMicrotasks();
    assert.deepEqual([sink.written.length, sink.events], [3, ['ended']]);
  });

  it('reports a failure once, also one thrown before the first promise', async () => {
    const sink = new RecordingSink();
    const broken: AsyncIterable<Uint8Array> = {
      [Symbol.asyncIterator]: () => ({
        next: () => {
          throw new Error('at once');
        },
      }),
    };
    new Pump(broken, sink, { aheadBytes: 1, aheadMessageCount: 1 }).start();
    await drainMicrotasks();
    assert.deepEqual(sink.events, ['failed Error: at once']);
  });

  it('returns the source when stopped, and says when that fails', async () => {
    const sink = new RecordingSink();
    async function* stubborn(): AsyncIterable<Uint8Array> {
      try {
        for (;;) yield new Uint8Array(1);
      } finally {
        await Promise.reject(new Error('in clean-up'));
      }
    }
    const pump = new Pump(stubborn(), sink, { aheadBytes: 1, aheadMessageCount: 1 });
    pump.start();
    await drainMicrotasks();
    pump.stop();
    pump.stop();
    sink.pending.shift()?.();
    await drainMicrotasks();
    assert.deepEqual([sink.written.length, sink.events], [1, ['clean-up Error: in clean-up']]);
  });
});

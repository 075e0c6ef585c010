// Proves what each fault does to calls, seen from both ends: statuses, times, executions, and
// that healing brings service back.

import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, it } from 'node:test';
import { createVirtualRuntime, sleep, type VirtualRuntime, withDeadline } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { runToEnd } from '../testing/behaviour/virtual-world.ts';
import {
  aborted,
  bytes,
  collect,
  eventually,
  failsWith,
  never,
  of,
  routes,
  streamMethod,
  text,
  unaryMethod,
} from '../testing/behaviour/world.ts';
import type { ByteRouter, Channel } from '../transport/transport.ts';
import { type FaultEvent, type LinkProfile, scriptedFaults } from './faults.ts';
import { createMemoryNetwork, type MemoryNetwork } from './network.ts';
import type { Settings } from './settings.ts';

const SAY = '/t.T/Say';
const HANG = '/t.T/Hang';
const STREAM = '/t.T/Stream';

class Bed {
  readonly time: VirtualRuntime;
  readonly network: MemoryNetwork;
  runs = 0;
  aborts = 0;
  readonly router: ByteRouter = routes({
    [SAY]: unaryMethod(async (request) => {
      this.runs += 1;
      return request;
    }),
    [HANG]: unaryMethod(async (request, call) => {
      this.runs += 1;
      await aborted(call.signal);
      this.aborts += 1;
      return request;
    }),
    [STREAM]: streamMethod(async function* (requests) {
      yield bytes('ready');
      yield* requests;
    }),
  });

  constructor(options: BedOptions = {}) {
    this.time = createVirtualRuntime({ seed: options.seed ?? 'faults', drain: drainMicrotasks });
    this.network = createMemoryNetwork({
      runtime: this.time.runtime,
      faults: scriptedFaults(options.events ?? [], options.profile),
      settings: options.settings ?? {},
    });
    this.network.listen('server:1', this.router);
  }

  connect(): Channel {
    return this.network.connect({ from: 'client', to: 'server:1' });
  }
}

interface BedOptions {
  readonly seed?: string;
  readonly events?: readonly FaultEvent[];
  readonly profile?: Partial<LinkProfile>;
  readonly settings?: Partial<Settings>;
}

/** Runs the body, ends everything, and demands that nothing is left. */
async function inBed(options: BedOptions, body: (bed: Bed) => Promise<void>): Promise<void> {
  const bed = new Bed(options);
  await runToEnd(bed.time, () => body(bed));
  bed.network.close();
  await bed.time.runUntilIdle({ maxEvents: 10_000, maxMs: 60_000 });
  const left = Object.entries(bed.network.open).filter(([, count]) => count !== 0);
  assert.deepEqual(left, []);
  assert.equal(bed.time.pendingTimers, 0);
}

async function opened(channel: Channel, signal = new AbortController().signal) {
  const responses = channel.stream(STREAM, never(signal), { signal });
  const first = await responses.next();
  assert.ok(first.done !== true && text(first.value) === 'ready');
  return responses;
}

describe('partition', () => {
  it('is silent: an open stream fails only by keepalive, 30 s + 10 s after the last word', () =>
    inBed({}, async (bed) => {
      const { network, time } = bed;
      const responses = await opened(bed.connect());
      const lastWordMs = time.nowMs;
      network.apply({ kind: 'partition', a: 'client', b: 'server' });
      const error = await failsWith('UNAVAILABLE', responses.next());
      assert.match(error.message, /keepalive/);
      const tookMs = time.nowMs - lastWordMs;
      assert.ok(tookMs >= 39_900 && tookMs <= 40_100, `${tookMs}`);
    }));

  it('ends calls with their deadline, and new dials when nobody answers for 20 s', () =>
    inBed({}, async (bed) => {
      bed.network.apply({ kind: 'partition', a: 'client', b: 'server' });
      const channel = bed.connect();
      const { signal } = withDeadline(bed.time.runtime, 500);
      await failsWith('DEADLINE_EXCEEDED', channel.unary(SAY, bytes(''), { signal }));
      assert.equal(bed.time.nowMs, 500);
      await failsWith('UNAVAILABLE', channel.stream(STREAM, of()).next());
      assert.equal(bed.time.nowMs, 20_000);
      assert.equal(bed.runs, 0);
    }));

  it('loses nothing when it is short: what was sent meanwhile arrives afterwards, in order', () =>
    inBed({}, async (bed) => {
      const channel = bed.connect();
      const numbers = Array.from({ length: 40 }, (_, i) => String(i));
      async function* paced(): AsyncIterable<Uint8Array> {
        for (const number of numbers) {
          await sleep(bed.time.runtime, 50);
          yield bytes(number);
        }
      }
      bed.time.runtime.timers.after(300, () =>
        bed.network.apply({ kind: 'partition', a: 'client', b: 'server' }),
      );
      bed.time.runtime.timers.after(1_300, () =>
        bed.network.apply({ kind: 'heal', a: 'client', b: 'server' }),
      );
      assert.deepEqual(await collect(channel.stream(STREAM, paced())), ['ready', ...numbers]);
      assert.equal(bed.network.open.stalledPackets, 0);
    }));

  it('adds up: two overlapping ones end with the second', () =>
    inBed({}, async (bed) => {
      const cut = { a: 'client', b: 'server' };
      bed.network.apply({ kind: 'partition', ...cut });
      bed.network.apply({ kind: 'partition', ...cut });
      bed.network.apply({ kind: 'heal', ...cut });
      const call = bed.connect().unary(SAY, bytes('late'));
      await sleep(bed.time.runtime, 1_000);
      assert.equal(bed.runs, 0);
      bed.network.apply({ kind: 'heal', ...cut });
      assert.equal(text(await call), 'late');
    }));
});

describe('half-open', () => {
  it('runs a request whose answer cannot return; both ends end within the keepalive', () =>
    inBed({}, async (bed) => {
      const channel = bed.connect();
      await channel.unary(SAY, bytes('warm'));
      bed.network.apply({ kind: 'block', from: 'server', to: 'client' });
      const { signal } = withDeadline(bed.time.runtime, 60_000);
      const error = await failsWith('UNAVAILABLE', channel.unary(SAY, bytes('x'), { signal }));
      assert.match(error.message, /keepalive/);
      assert.equal(bed.runs, 2);
      bed.network.apply({ kind: 'unblock', from: 'server', to: 'client' });
      assert.equal(text(await channel.unary(SAY, bytes('again'))), 'again');
    }));
});

describe('crash', () => {
  it('resets connections, aborts handlers, drops their late results, refuses until restart', () =>
    inBed({}, async (bed) => {
      const channel = bed.connect();
      const call = failsWith('UNAVAILABLE', channel.unary(HANG, bytes('')));
      await eventually(bed.time, 'the handler to run', () => bed.runs === 1);
      bed.network.apply({ kind: 'crash', host: 'server' });
      await call;
      assert.equal(bed.aborts, 1);
      assert.equal(bed.network.counters.lateResults, 1);
      const refused = await failsWith('UNAVAILABLE', channel.unary(SAY, bytes('')));
      assert.match(refused.message, /refused/);
      bed.network.apply({ kind: 'restart', host: 'server' });
      bed.network.listen('server:1', bed.router);
      assert.equal(text(await channel.unary(SAY, bytes('back'))), 'back');
    }));

  it('of the caller: its calls fail, its handlers elsewhere abort, and it may call after restart', () =>
    inBed({}, async (bed) => {
      const channel = bed.connect();
      const call = failsWith('UNAVAILABLE', channel.unary(HANG, bytes('')));
      await eventually(bed.time, 'the handler to run', () => bed.runs === 1);
      bed.network.apply({ kind: 'crash', host: 'client' });
      await call;
      await failsWith('UNAVAILABLE', channel.unary(SAY, bytes('')));
      await eventually(bed.time, 'the abort', () => bed.aborts === 1);
      bed.network.apply({ kind: 'restart', host: 'client' });
      assert.equal(text(await channel.unary(SAY, bytes('back'))), 'back');
    }));
});

describe('power loss', () => {
  it('tells nobody; after the restart the old connection is answered with a reset', () =>
    inBed({}, async (bed) => {
      const channel = bed.connect();
      const responses = await opened(channel);
      bed.network.apply({ kind: 'vanish', host: 'server' });
      bed.network.apply({ kind: 'restart', host: 'server' });
      bed.network.listen('server:1', bed.router);
      const startedMs = bed.time.nowMs;
      // The ping of the keepalive is the first packet that reaches the new process.
      const error = await failsWith('UNAVAILABLE', responses.next());
      assert.match(error.message, /lost this connection/);
      assert.ok(bed.time.nowMs - startedMs < 31_000);
      assert.equal(text(await channel.unary(SAY, bytes('back'))), 'back');
    }));
});

describe('refused and reset', () => {
  it('fails UNAVAILABLE and recovers', () =>
    inBed({}, async (bed) => {
      const channel = bed.connect();
      bed.network.apply({ kind: 'refuse', address: 'server:1' });
      await failsWith('UNAVAILABLE', channel.unary(SAY, bytes('')));
      bed.network.apply({ kind: 'admit', address: 'server:1' });
      const responses = await opened(channel);
      bed.network.apply({ kind: 'reset', a: 'server', b: 'client' });
      await failsWith('UNAVAILABLE', responses.next());
      assert.equal(text(await channel.unary(SAY, bytes('back'))), 'back');
      assert.equal(bed.network.counters.refusedConnections, 1);
    }));

  it('fails UNAVAILABLE when the handshake refuses the peer', () =>
    inBed({}, async (bed) => {
      bed.network.listen('server:2', bed.router, { authenticate: () => undefined });
      const channel = bed.network.connect({ from: 'client', to: 'server:2' });
      await failsWith('UNAVAILABLE', channel.unary(SAY, bytes('')));
    }));

  it('shows the handler the identity that the handshake proved', () =>
    inBed({}, async (bed) => {
      const who = unaryMethod(async (_request, { peer }) =>
        bytes(`${peer.address} ${peer.identity.kind}`),
      );
      bed.network.listen('server:2', routes({ [SAY]: who }));
      const identity = {
        kind: 'verified',
        role: 'shard',
        id: 's-1',
        san: 'bigfleet://shard/s-1',
        commonName: undefined,
      } as const;
      const channel = bed.network.connect({ from: 'client', to: 'server:2', identity });
      assert.equal(text(await channel.unary(SAY, bytes(''))), 'client verified');
    }));
});

describe('loss', () => {
  it('of a request: UNAVAILABLE, never executed', () =>
    inBed({}, async (bed) => {
      const profile = { callLossProbability: 1 };
      bed.network.apply({ kind: 'profile', from: 'client', to: 'server', profile });
      await failsWith('UNAVAILABLE', bed.connect().unary(SAY, bytes('')));
      assert.equal(bed.runs, 0);
      assert.equal(bed.network.counters.lostCalls, 1);
    }));

  it('of a response: UNAVAILABLE, although it was executed', () =>
    inBed({}, async (bed) => {
      const profile = { callLossProbability: 1 };
      bed.network.apply({ kind: 'profile', from: 'server', to: 'client', profile });
      await failsWith('UNAVAILABLE', bed.connect().unary(SAY, bytes('')));
      assert.equal(bed.runs, 1);
    }));

  it('of a connection: every call on it fails', () =>
    inBed({}, async (bed) => {
      const channel = bed.connect();
      const responses = await opened(channel);
      const profile = { connectionLossProbability: 1 };
      bed.network.apply({ kind: 'profile', from: 'client', to: 'server', profile });
      const stream = failsWith('UNAVAILABLE', responses.next());
      await failsWith('UNAVAILABLE', channel.unary(SAY, bytes('')));
      await stream;
      assert.equal(bed.network.counters.lostConnections, 1);
    }));
});

describe('duplication', () => {
  it('runs a unary request twice and answers once; streams are never duplicated', () =>
    inBed({ profile: { duplicateProbability: 1 } }, async (bed) => {
      const channel = bed.connect();
      assert.equal(text(await channel.unary(SAY, bytes('x'))), 'x');
      await sleep(bed.time.runtime, 1_000);
      assert.equal(bed.runs, 2);
      assert.deepEqual(await collect(channel.stream(STREAM, of('a'))), ['ready', 'a']);
      await failsWith('INTERNAL', channel.unary(STREAM, bytes('one request for a stream')));
      assert.equal(bed.network.counters.duplicatedRequests, 2);
      assert.equal(bed.network.open.serverCalls, 0);
    }));

  it('is off unless asked for', () =>
    inBed({}, async (bed) => {
      const channel = bed.connect();
      for (let i = 0; i < 200; i += 1) await channel.unary(SAY, bytes('x'));
      assert.equal(bed.runs, 200);
    }));
});

describe('reordering', () => {
  it('happens between calls, never within a stream', () =>
    inBed(
      { profile: { latency: { minMs: 1, maxMs: 50, tailProbability: 0, tailMs: 0 } } },
      async (bed) => {
        const arrivals: string[] = [];
        const note = unaryMethod(async (request) => {
          arrivals.push(text(request));
          return request;
        });
        bed.network.listen('server:2', routes({ [SAY]: note }));
        const channel = bed.network.connect({ from: 'client', to: 'server:2' });
        await channel.unary(SAY, bytes('warm'));
        const sent = Array.from({ length: 30 }, (_, i) => String(i));
        await Promise.all(sent.map((number) => channel.unary(SAY, bytes(number))));
        assert.notDeepEqual(arrivals.slice(1), sent);
        assert.deepEqual(new Set(arrivals.slice(1)), new Set(sent));
        const echoed = await collect(bed.connect().stream(STREAM, of(...sent)));
        assert.deepEqual(echoed, ['ready', ...sent]);
      },
    ));
});

describe('slow peer', () => {
  it('takes as long as its bandwidth says', () =>
    inBed({}, async (bed) => {
      const channel = bed.connect();
      await channel.unary(SAY, bytes('warm'));
      const profile = { bytesPerMs: 10 };
      bed.network.apply({ kind: 'profile', from: 'client', to: 'server', profile });
      const startedMs = bed.time.nowMs;
      await channel.unary(SAY, new Uint8Array(10_000));
      const tookMs = bed.time.nowMs - startedMs;
      assert.ok(tookMs > 1_000 && tookMs < 1_100, `${tookMs}`);
    }));
});

describe('keepalive', () => {
  it('lets an idle but healthy stream live for hours', () =>
    inBed({}, async (bed) => {
      const stop = new AbortController();
      const responses = await opened(bed.connect(), stop.signal);
      const next = failsWith('CANCELLED', responses.next());
      await sleep(bed.time.runtime, 5 * 3_600_000);
      assert.equal(bed.network.open.clientCalls, 1);
      assert.equal(bed.network.counters.keepaliveTimeouts, 0);
      stop.abort();
      await next;
    }));

  it('closes connections without calls after 15 minutes', () =>
    inBed({}, async (bed) => {
      const channel = bed.connect();
      await channel.unary(SAY, bytes(''));
      assert.equal(bed.network.open.connectionHalves, 2);
      await sleep(bed.time.runtime, 16 * 60_000);
      assert.equal(bed.network.open.connectionHalves, 0);
      assert.equal(text(await channel.unary(SAY, bytes('again'))), 'again');
    }));
});

describe('memory', () => {
  it('is never shared between peers, whatever kind of bytes is sent', () =>
    inBed({}, async (bed) => {
      let kept: Uint8Array = new Uint8Array();
      const keep = unaryMethod(async (request) => {
        kept = request;
        return request;
      });
      const keepAll = streamMethod(async function* (requests) {
        for await (const request of requests) {
          request.fill(7);
          yield request;
          request.fill(8);
        }
      });
      bed.network.listen('server:2', routes({ [SAY]: keep, [STREAM]: keepAll }));
      const channel = bed.network.connect({ from: 'client', to: 'server:2' });
      for (const request of [Uint8Array.of(1, 2), Buffer.from([1, 2])]) {
        const call = channel.unary(SAY, request);
        await eventually(bed.time, 'arrival', () => kept.length === 2);
        request.fill(9);
        kept.fill(5);
        const response = await call;
        assert.deepEqual([...response], [1, 2]);
        assert.deepEqual([...request], [9, 9]);
        assert.ok(!Buffer.isBuffer(response));
        kept = new Uint8Array();
      }
      const sent = Buffer.from([1]);
      async function* one(): AsyncIterable<Uint8Array> {
        yield sent;
      }
      for await (const response of channel.stream(STREAM, one())) {
        await sleep(bed.time.runtime, 100);
        assert.deepEqual([...response], [7]);
      }
      assert.deepEqual([...sent], [1]);
    }));

  it('gives timers back with the call, not with its deadline', () =>
    inBed({}, async (bed) => {
      const deadline = withDeadline(bed.time.runtime, 3_600_000);
      const channel = bed.connect();
      await channel.unary(SAY, bytes(''), { signal: deadline.signal });
      await channel.unary(SAY, bytes(''));
      deadline.dispose();
      channel.close();
      await sleep(bed.time.runtime, 1_000);
      assert.equal(bed.network.open.timers, 0);
    }));

  it('leaves no listener on the caller’s signal', () =>
    inBed({}, async (bed) => {
      const { signal } = new AbortController();
      const channel = bed.connect();
      await channel.unary(SAY, bytes(''), { signal });
      await collect(channel.stream(STREAM, of('a'), { signal }));
      await failsWith('UNIMPLEMENTED', channel.unary('/t.T/None', bytes(''), { signal }));
      assert.equal(getEventListeners(signal, 'abort').length, 0);
      assert.equal(bed.network.open.signalListeners, 0);
    }));
});

describe('graceful stop', () => {
  it('makes clients leave: their next call reaches whoever listens then', () =>
    inBed({}, async (bed) => {
      const first = bed.network.listen('server:2', bed.router);
      const channel = bed.network.connect({ from: 'client', to: 'server:2' });
      assert.equal(text(await channel.unary(SAY, bytes('one'))), 'one');
      await first.stop(1_000);
      bed.network.listen('server:2', bed.router);
      await sleep(bed.time.runtime, 100);
      assert.equal(text(await channel.unary(SAY, bytes('two'))), 'two');
      assert.equal(bed.network.open.connectionHalves, 2);
    }));
});

describe('limits', () => {
  it('refuses what the receiver will not take, although the sender may send it', () =>
    inBed({}, async (bed) => {
      const settings = { maxMessageBytes: 100 };
      bed.network.listen('server:2', bed.router, { settings });
      const strict = bed.network.connect({ from: 'client', to: 'server:1', settings });
      const toStrict = bed.network.connect({ from: 'client', to: 'server:2' });
      const up = await failsWith('RESOURCE_EXHAUSTED', toStrict.unary(SAY, new Uint8Array(101)));
      assert.match(up.message, /message_too_large/);
      assert.equal(bed.runs, 0);
      const grow = streamMethod(async function* () {
        yield new Uint8Array(101);
      });
      bed.network.listen('server:3', routes({ [STREAM]: grow }));
      const toGrow = bed.network.connect({ from: 'client', to: 'server:3', settings });
      await failsWith('RESOURCE_EXHAUSTED', toGrow.stream(STREAM, of()).next());
      assert.equal((await strict.unary(SAY, new Uint8Array(100))).length, 100);
    }));

  it('gives a unary call without a deadline 30 s', () =>
    inBed({}, async (bed) => {
      await failsWith('DEADLINE_EXCEEDED', bed.connect().unary(HANG, bytes('')));
      assert.equal(bed.time.nowMs, 30_000);
      await eventually(bed.time, 'the abort', () => bed.aborts === 1);
    }));

  it('refuses more calls on a connection than it may hold', () =>
    inBed({ settings: { maxCallsPerConnection: 3 } }, async (bed) => {
      const channel = bed.connect();
      const calls = Array.from({ length: 3 }, () => channel.unary(HANG, bytes('')));
      const ends = calls.map((call) => failsWith('CANCELLED', call));
      await eventually(bed.time, 'three handlers', () => bed.runs === 3);
      await failsWith('RESOURCE_EXHAUSTED', channel.unary(HANG, bytes('')));
      channel.close();
      await Promise.all(ends);
    }));
});

describe('a plan', () => {
  it('happens at its virtual times', () =>
    inBed(
      {
        events: [
          { atMs: 1_000, fault: { kind: 'crash', host: 'server' } },
          { atMs: 2_000, fault: { kind: 'restart', host: 'server' } },
        ],
      },
      async (bed) => {
        const seen: string[] = [];
        bed.network.watchHost('server', (event) => seen.push(`${bed.time.nowMs} ${event}`));
        await sleep(bed.time.runtime, 3_000);
        assert.deepEqual(seen, ['1000 down', '2000 up']);
      },
    ));
});

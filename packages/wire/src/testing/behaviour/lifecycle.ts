// Beginnings and ends of channels and servers: refused, cut, stopped, closed.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sleep, withDeadline } from '@bigfleet/base';
import { RpcError } from '../../transport/status.ts';
import type { ByteMethod, Channel } from '../../transport/transport.ts';
import {
  aborted,
  bytes,
  eventually,
  failsWith,
  inWorld,
  never,
  of,
  type OpenWorld,
  routes,
  streamMethod,
  text,
  unaryMethod,
  type World,
} from './world.ts';

const echo = unaryMethod(async (request) => request);

interface Seen {
  runs: number;
  aborts: number;
}

function hanging(seen: Seen): Record<string, ByteMethod> {
  return {
    '/t.T/Hang': unaryMethod(async (request, call) => {
      seen.runs += 1;
      await aborted(call.signal);
      seen.aborts += 1;
      return request;
    }),
    '/t.T/Stream': streamMethod(async function* (_requests, call) {
      seen.runs += 1;
      yield bytes('ready');
      await aborted(call.signal);
      seen.aborts += 1;
    }),
  };
}

/** A unary call and a stream, both running at the server. */
async function startBoth(world: World, channel: Channel, seen: Seen, stop: AbortSignal) {
  const unary = channel.unary('/t.T/Hang', bytes(''));
  unary.catch(() => {});
  const responses = channel.stream('/t.T/Stream', never(stop));
  assert.equal((await responses.next()).done, false);
  await eventually(world, 'both handlers to run', () => seen.runs === 2);
  return { unary, next: responses.next() };
}

export function describeLifecycle(open: OpenWorld): void {
  describe('lifecycle', () => {
    it('fails UNAVAILABLE where nobody listens', () =>
      inWorld(open, async (world) => {
        const channel = world.connectToNobody();
        await failsWith('UNAVAILABLE', channel.unary('/t.T/Echo', bytes('')));
        await failsWith('UNAVAILABLE', channel.stream('/t.T/Echo', of()).next());
        channel.close();
      }));

    it('fails open calls UNAVAILABLE when the peer is gone, tells their handlers, and reconnects', () =>
      inWorld(open, async (world) => {
        const seen: Seen = { runs: 0, aborts: 0 };
        const served = await world.serve(routes({ ...hanging(seen), '/t.T/Echo': echo }));
        const channel = served.connect();
        const stop = new AbortController();
        const { unary, next } = await startBoth(world, channel, seen, stop.signal);
        const failures = [failsWith('UNAVAILABLE', unary), failsWith('UNAVAILABLE', next)];
        served.cut();
        await Promise.all(failures);
        await eventually(world, 'both handlers to notice', () => seen.aborts === 2);
        assert.equal(text(await untilServed(world, channel)), 'again');
        stop.abort();
      }));

    it('ends every call with CANCELLED when its channel closes, and tells their handlers', () =>
      inWorld(open, async (world) => {
        const seen: Seen = { runs: 0, aborts: 0 };
        const served = await world.serve(routes(hanging(seen)));
        const channel = served.connect();
        const stop = new AbortController();
        const { unary, next } = await startBoth(world, channel, seen, stop.signal);
        const failures = [failsWith('CANCELLED', unary), failsWith('CANCELLED', next)];
        channel.close();
        channel.close();
        await Promise.all(failures);
        await eventually(world, 'both handlers to notice', () => seen.aborts === 2);
        await failsWith('CANCELLED', channel.unary('/t.T/Hang', bytes('')));
        await failsWith('CANCELLED', channel.stream('/t.T/Stream', of()).next());
        assert.equal(seen.runs, 2);
        stop.abort();
      }));

    it('lets a running call finish while it stops, and takes no new ones', () =>
      inWorld(open, async (world) => {
        let running = false;
        const slow = unaryMethod(async (request) => {
          running = true;
          await sleep(world.runtime, 200);
          return request;
        });
        const stopGraceMs = 3_600_000;
        const served = await world.serve(routes({ '/t.T/Slow': slow }), { stopGraceMs });
        const channel = served.connect();
        const call = channel.unary('/t.T/Slow', bytes('kept'));
        await eventually(world, 'the handler to run', () => running);
        const startedMs = world.runtime.clock.monotonicMs();
        const stopped = served.stop();
        await sleep(world.runtime, 50);
        await failsWith('UNAVAILABLE', channel.unary('/t.T/Slow', bytes('late')));
        assert.equal(text(await call), 'kept');
        await stopped;
        const tookMs = world.runtime.clock.monotonicMs() - startedMs;
        assert.ok(tookMs < stopGraceMs, 'it waited although nothing was left to wait for');
        await failsWith('UNAVAILABLE', channel.unary('/t.T/Slow', bytes('later')));
      }));

    it('ends streams that do not end, UNAVAILABLE, within its grace', () =>
      inWorld(open, async (world) => {
        const seen: Seen = { runs: 0, aborts: 0 };
        const served = await world.serve(routes(hanging(seen)), { stopGraceMs: 100 });
        const stop = new AbortController();
        const { unary, next } = await startBoth(world, served.connect(), seen, stop.signal);
        const failures = [failsWith('UNAVAILABLE', unary), failsWith('UNAVAILABLE', next)];
        const startedMs = world.runtime.clock.monotonicMs();
        await served.stop();
        const tookMs = world.runtime.clock.monotonicMs() - startedMs;
        assert.ok(tookMs >= 95, `${tookMs}`);
        await Promise.all(failures);
        await eventually(world, 'both handlers to notice', () => seen.aborts === 2);
        await served.stop();
        stop.abort();
      }));

    it('numbers its connections: one for all its calls, another when it was made anew', () =>
      inWorld(open, async (world) => {
        const served = await world.serve(routes({ '/t.T/Echo': echo }));
        const channel = served.connect();
        const numberOf = async (): Promise<number | undefined> => {
          let told: number | undefined;
          const onConnection = (connection: number): void => {
            told = connection;
          };
          await channel.unary('/t.T/Echo', bytes('which?'), { onConnection });
          return told;
        };
        const [first, second] = await Promise.all([numberOf(), numberOf()]);
        assert.ok(first !== undefined && first === second, `${first} and ${second}`);
        assert.equal(await numberOf(), first);
        served.cut();
        await untilServed(world, channel);
        const anew = await numberOf();
        assert.ok(anew !== undefined && anew !== first, `${anew} after ${first}`);
      }));

    it('serves several channels at once', () =>
      inWorld(open, async (world) => {
        const served = await world.serve(routes({ '/t.T/Echo': echo }));
        const [a, b] = [served.connect(), served.connect()];
        assert.equal(text(await a.unary('/t.T/Echo', bytes('a'))), 'a');
        a.close();
        assert.equal(text(await b.unary('/t.T/Echo', bytes('b'))), 'b');
      }));
  });
}

/** Reconnecting may take a back-off; everything until then must fail UNAVAILABLE. */
async function untilServed(world: World, channel: Channel): Promise<Uint8Array> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const deadline = withDeadline(world.runtime, 60_000);
    try {
      return await channel.unary('/t.T/Echo', bytes('again'), { signal: deadline.signal });
    } catch (error) {
      if (!(error instanceof RpcError) || error.code !== 'UNAVAILABLE') throw error;
      await sleep(world.runtime, 50);
    } finally {
      deadline.dispose();
    }
  }
  return assert.fail('never reconnected');
}

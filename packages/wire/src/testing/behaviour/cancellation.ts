// Signals and deadlines: before, during and after a call, seen from both ends.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deadlineOf, sleep, withDeadline } from '@bigfleet/base';
import { RpcError } from '../../transport/status.ts';
import type { ByteMethod } from '../../transport/transport.ts';
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
} from './world.ts';

interface Seen {
  runs: number;
  aborts: number;
}

function hangingUnary(seen: Seen): ByteMethod {
  return unaryMethod(async (_request, call) => {
    seen.runs += 1;
    await aborted(call.signal);
    seen.aborts += 1;
    throw call.signal.reason;
  });
}

export function describeCancellation(open: OpenWorld): void {
  describe('cancellation', () => {
    it('does not start a call whose signal is already aborted', () =>
      inWorld(open, async (world) => {
        const seen: Seen = { runs: 0, aborts: 0 };
        const hang = streamMethod(async function* () {
          seen.runs += 1;
          yield bytes('never asked for');
        });
        const { connect } = await world.serve(
          routes({ '/t.T/Hang': hangingUnary(seen), '/t.T/Stream': hang }),
        );
        const channel = connect();
        const options = { signal: AbortSignal.abort() };
        await failsWith('CANCELLED', channel.unary('/t.T/Hang', bytes(''), options));
        await failsWith('CANCELLED', channel.stream('/t.T/Stream', of(), options).next());
        await sleep(world.runtime, 50);
        assert.equal(seen.runs, 0);
      }));

    it('cancels a running unary call at both ends', () =>
      inWorld(open, async (world) => {
        const seen: Seen = { runs: 0, aborts: 0 };
        const { connect } = await world.serve(routes({ '/t.T/Hang': hangingUnary(seen) }));
        const controller = new AbortController();
        const call = connect().unary('/t.T/Hang', bytes(''), { signal: controller.signal });
        const failure = failsWith('CANCELLED', call);
        await eventually(world, 'the handler to run', () => seen.runs === 1);
        controller.abort();
        await failure;
        await eventually(world, 'the handler to notice', () => seen.aborts === 1);
      }));

    it('cancels a running stream at both ends; its requests fail, they do not just end', () =>
      inWorld(open, async (world) => {
        let requestsEnded: unknown;
        const listen = streamMethod(async function* (requests) {
          yield bytes('ready');
          try {
            for await (const request of requests) assert.equal(text(request), 'none expected');
            requestsEnded = 'cleanly';
          } catch (error) {
            requestsEnded = error;
            throw error;
          }
        });
        const { connect } = await world.serve(routes({ '/t.T/Listen': listen }));
        const controller = new AbortController();
        const { signal } = controller;
        const responses = connect().stream('/t.T/Listen', never(signal), { signal });
        assert.equal((await responses.next()).done, false);
        const failure = failsWith('CANCELLED', responses.next());
        controller.abort();
        await failure;
        assert.equal((await responses.next()).done, true);
        await eventually(world, 'the handler to notice', () => requestsEnded !== undefined);
        assert.ok(requestsEnded instanceof RpcError, String(requestsEnded));
        assert.equal(requestsEnded.code, 'CANCELLED');
      }));

    it('changes nothing when the signal aborts after the end', () =>
      inWorld(open, async (world) => {
        let wasAborted = false;
        const method = unaryMethod(async (request, call) => {
          call.signal.addEventListener('abort', () => {
            wasAborted = true;
          });
          return request;
        });
        const { connect } = await world.serve(routes({ '/t.T/Echo': method }));
        const controller = new AbortController();
        const channel = connect();
        const options = { signal: controller.signal };
        assert.equal(text(await channel.unary('/t.T/Echo', bytes('a'), options)), 'a');
        controller.abort();
        await sleep(world.runtime, 50);
        assert.equal(wasAborted, false);
        assert.equal(text(await channel.unary('/t.T/Echo', bytes('b'))), 'b');
      }));
  });

  describe('deadlines', () => {
    it('does not start a call whose deadline has passed', () =>
      inWorld(open, async (world) => {
        const seen: Seen = { runs: 0, aborts: 0 };
        const { connect } = await world.serve(routes({ '/t.T/Hang': hangingUnary(seen) }));
        const { signal } = withDeadline(world.runtime, 0);
        await aborted(signal);
        await failsWith('DEADLINE_EXCEEDED', connect().unary('/t.T/Hang', bytes(''), { signal }));
        await sleep(world.runtime, 50);
        assert.equal(seen.runs, 0);
      }));

    it('ends a unary call and a stream at both ends', () =>
      inWorld(open, async (world) => {
        const seen: Seen = { runs: 0, aborts: 0 };
        const hang = streamMethod(async function* (_requests, call) {
          seen.runs += 1;
          yield bytes('ready');
          await aborted(call.signal);
          seen.aborts += 1;
        });
        const { connect } = await world.serve(
          routes({ '/t.T/Hang': hangingUnary(seen), '/t.T/Stream': hang }),
        );
        const channel = connect();
        const { signal } = withDeadline(world.runtime, 2_000);
        const unary = failsWith(
          'DEADLINE_EXCEEDED',
          channel.unary('/t.T/Hang', bytes(''), { signal }),
        );
        const responses = channel.stream('/t.T/Stream', never(signal), { signal });
        assert.equal((await responses.next()).done, false);
        await failsWith('DEADLINE_EXCEEDED', responses.next());
        await unary;
        assert.equal(seen.runs, 2);
        await eventually(world, 'both handlers to notice', () => seen.aborts === 2);
      }));

    it('tells the handler the deadline', () =>
      inWorld(open, async (world) => {
        let leftMs: number | undefined;
        const method = unaryMethod(async (request, call) => {
          const deadlineMs = deadlineOf(call.signal);
          if (deadlineMs !== undefined) leftMs = deadlineMs - world.runtime.clock.monotonicMs();
          return request;
        });
        const { connect } = await world.serve(routes({ '/t.T/Echo': method }));
        const deadline = withDeadline(world.runtime, 3_600_000);
        await connect().unary('/t.T/Echo', bytes(''), { signal: deadline.signal });
        deadline.dispose();
        assert.ok(leftMs !== undefined && leftMs > 3_000_000 && leftMs < 3_601_000, `${leftMs}`);
      }));
  });
}

// Streams of every shape: order, half-close, ends, failures behind messages, back-pressure.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RpcError } from '../../transport/status.ts';
import {
  aborted,
  bytes,
  collect,
  eventually,
  failsWith,
  inWorld,
  never,
  of,
  type OpenWorld,
  plateau,
  routes,
  streamMethod,
  text,
} from './world.ts';

const echo = streamMethod((requests) => requests);

/** 64 KiB each; a transport may hold some, never this many. */
const PRODUCED_BOUND = 600;
/** Where a producer that nobody holds back stops by itself, so that the test can say so. */
const RUNAWAY = 2_000;
/** The same for small messages, of which a window holds thousands. */
const ENDLESS = 100_000;

export function describeStreams(open: OpenWorld): void {
  describe('streams', () => {
    it('keeps the order of a bidirectional stream, empty messages included', () =>
      inWorld(open, async (world) => {
        const { connect } = await world.serve(routes({ '/t.T/Echo': echo }));
        const sent = Array.from({ length: 500 }, (_, i) => (i % 10 === 0 ? '' : `m${i}`));
        assert.deepEqual(await collect(connect().stream('/t.T/Echo', of(...sent))), sent);
      }));

    it('answers each message of a conversation before the next is sent', () =>
      inWorld(open, async (world) => {
        const { connect } = await world.serve(routes({ '/t.T/Echo': echo }));
        let answered = 0;
        const responses = connect().stream('/t.T/Echo', talk());
        async function* talk(): AsyncIterable<Uint8Array> {
          for (let i = 0; i < 20; i += 1) {
            yield bytes(String(i));
            await eventually(world, 'the answer', () => answered > i);
          }
        }
        for await (const message of responses) {
          assert.equal(text(message), String(answered));
          answered += 1;
        }
        assert.equal(answered, 20);
      }));

    it('tells the handler the half-close, and delivers what it says afterwards', () =>
      inWorld(open, async (world) => {
        const sum = streamMethod(async function* (requests) {
          let total = 0;
          for await (const request of requests) total += Number(text(request));
          yield bytes(String(total));
        });
        const { connect } = await world.serve(routes({ '/t.T/Sum': sum }));
        assert.deepEqual(await collect(connect().stream('/t.T/Sum', of('1', '2', '39'))), ['42']);
        assert.deepEqual(await collect(connect().stream('/t.T/Sum', of())), ['0']);
      }));

    it('ends cleanly when nobody says anything', () =>
      inWorld(open, async (world) => {
        const silent = streamMethod(async function* () {});
        const { connect } = await world.serve(routes({ '/t.T/Silent': silent }));
        const channel = connect();
        assert.deepEqual(await collect(channel.stream('/t.T/Silent', of())), []);
        assert.deepEqual(await collect(channel.stream('/t.T/Silent', of('a', 'b'))), []);
      }));

    it('delivers every message that came before a failure, then the failure, once', () =>
      inWorld(open, async (world) => {
        const failing = streamMethod(async function* (_requests, call) {
          for (let i = 0; i < 50; i += 1) yield bytes(String(i));
          call.setTrailer('x-after', '50');
          throw new RpcError('ABORTED', 'enough');
        });
        const { connect } = await world.serve(routes({ '/t.T/Fail': failing }));
        const responses = connect().stream('/t.T/Fail', of());
        await plateau(world, () => 0);
        for (let i = 0; i < 50; i += 1) {
          const step = await responses.next();
          assert.ok(step.done !== true, `message ${i} is missing`);
          assert.equal(text(step.value), String(i));
        }
        const error = await failsWith('ABORTED', responses.next());
        assert.equal(error.message, 'enough');
        assert.equal(error.metadata.get('x-after'), '50');
        assert.equal((await responses.next()).done, true);
      }));

    it('lets the server end while the client still sends, and ends its requests', () =>
      inWorld(open, async (world) => {
        let returned = false;
        async function* endless(): AsyncIterable<Uint8Array> {
          try {
            for (let i = 0; i < ENDLESS; i += 1) yield bytes('more');
          } finally {
            returned = true;
          }
        }
        const first = streamMethod(async function* (requests) {
          for await (const request of requests) {
            yield request;
            return;
          }
        });
        const { connect } = await world.serve(routes({ '/t.T/First': first }));
        assert.deepEqual(await collect(connect().stream('/t.T/First', endless())), ['more']);
        await eventually(world, 'the requests were returned', () => returned);
      }));

    it('cancels the call when the reader leaves early', () =>
      inWorld(open, async (world) => {
        const seen = { signal: false, cleanUp: false, requests: false };
        const ticking = streamMethod(async function* (_requests, call) {
          call.signal.addEventListener('abort', () => {
            seen.signal = true;
          });
          try {
            for (let i = 0; i < ENDLESS; i += 1) yield bytes('tick');
          } finally {
            seen.cleanUp = true;
          }
        });
        async function* open_(): AsyncIterable<Uint8Array> {
          try {
            for (let i = 0; i < ENDLESS; i += 1) yield bytes('x');
          } finally {
            seen.requests = true;
          }
        }
        const { connect } = await world.serve(routes({ '/t.T/Tick': ticking }));
        for await (const message of connect().stream('/t.T/Tick', open_())) {
          assert.equal(text(message), 'tick');
          break;
        }
        await eventually(world, 'the handler stopped', () => seen.signal && seen.cleanUp);
        await eventually(world, 'the requests were returned', () => seen.requests);
      }));

    it('returns early also while a read is pending', () =>
      inWorld(open, async (world) => {
        let state = 'waiting';
        const silent = streamMethod(async function* (_requests, call) {
          state = 'running';
          await aborted(call.signal);
          state = 'stopped';
          yield bytes('too late');
        });
        const { connect } = await world.serve(routes({ '/t.T/Silent': silent }));
        const stop = new AbortController();
        const responses = connect().stream('/t.T/Silent', never(stop.signal));
        const pending = responses.next();
        await eventually(world, 'the handler to run', () => state === 'running');
        await responses.return?.();
        assert.equal((await pending).done, true);
        await eventually(world, 'the handler stopped', () => state === 'stopped');
        stop.abort();
      }));

    it('holds a producing handler back while the client does not read', () =>
      inWorld(open, async (world) => {
        const chunk = new Uint8Array(world.limitBytes < 65_536 ? world.limitBytes : 65_536);
        let produced = 0;
        const flood = streamMethod(async function* () {
          while (produced < RUNAWAY) {
            produced += 1;
            yield chunk;
          }
        });
        const { connect } = await world.serve(routes({ '/t.T/Flood': flood }));
        const responses = connect().stream('/t.T/Flood', of());
        assert.equal((await responses.next()).done, false);
        const held = await plateau(world, () => produced);
        assert.ok(held < PRODUCED_BOUND, `${held} messages for a reader that took one`);
        for (let i = 0; i < held; i += 1) assert.equal((await responses.next()).done, false);
        assert.ok((await plateau(world, () => produced)) > held, 'reading lets it go on');
        await responses.return?.();
      }));

    it('holds a producing client back while the handler does not read', () =>
      inWorld(open, async (world) => {
        const chunk = new Uint8Array(world.limitBytes < 65_536 ? world.limitBytes : 65_536);
        let produced = 0;
        async function* flood(): AsyncIterable<Uint8Array> {
          while (produced < RUNAWAY) {
            produced += 1;
            yield chunk;
          }
        }
        let read = (): void => {};
        const reading = new Promise<void>((resolve) => {
          read = resolve;
        });
        const lazy = streamMethod(async function* (requests) {
          await reading;
          for await (const request of requests) yield request.subarray(0, 1);
        });
        const { connect } = await world.serve(routes({ '/t.T/Lazy': lazy }));
        const responses = connect().stream('/t.T/Lazy', flood());
        const held = await plateau(world, () => produced);
        assert.ok(held < PRODUCED_BOUND, `${held} messages for a handler that took none`);
        read();
        for (let i = 0; i < held; i += 1) assert.equal((await responses.next()).done, false);
        assert.ok(produced > held, 'reading lets it go on');
        await responses.return?.();
      }));
  });
}

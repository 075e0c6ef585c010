// One request, one response: bytes, metadata, statuses, trailers, concurrency, size.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sleep } from '@bigfleet/base';
import { type FailureCode, type Metadata, RpcError, statusName } from '../../transport/status.ts';
import {
  bytes,
  failsWith,
  inWorld,
  type OpenWorld,
  routes,
  streamMethod,
  text,
  unaryMethod,
} from './world.ts';

const failureCodes = Array.from({ length: 16 }, (_, i) => statusName(i + 1) as FailureCode);

export function describeUnary(open: OpenWorld): void {
  describe('unary', () => {
    it('carries bytes both ways, also none', () =>
      inWorld(open, async (world) => {
        const echo = unaryMethod(async (request) => request);
        const { connect } = await world.serve(routes({ '/t.T/Echo': echo }));
        const channel = connect();
        const every = Uint8Array.from({ length: 256 }, (_, i) => i);
        assert.deepEqual(await channel.unary('/t.T/Echo', every), every);
        assert.equal((await channel.unary('/t.T/Echo', new Uint8Array())).length, 0);
      }));

    it('shows the handler its path, metadata and peer', () =>
      inWorld(open, async (world) => {
        let seen: Metadata = new Map();
        const method = unaryMethod(async (_request, call) => {
          seen = call.metadata;
          assert.equal(call.peer.identity.kind, 'unverified');
          assert.notEqual(call.peer.address, '');
          return bytes(call.path);
        });
        const { connect } = await world.serve(routes({ '/t.T/Who': method }));
        const metadata = new Map([
          ['x-one', '1'],
          ['x-two', 'a b, c'],
        ]);
        const response = await connect().unary('/t.T/Who', bytes(''), { metadata });
        assert.equal(text(response), '/t.T/Who');
        assert.deepEqual(new Map(seen), metadata);
      }));

    it('refuses metadata that cannot be sent, before anything is sent', () =>
      inWorld(open, async (world) => {
        let runs = 0;
        const method = unaryMethod(async (request) => {
          runs += 1;
          return request;
        });
        const { connect } = await world.serve(routes({ '/t.T/Say': method }));
        const channel = connect();
        for (const [key, value] of [
          ['Upper', 'x'],
          ['x-newline', 'a\nb'],
          ['x-unicode', 'é'],
          ['grpc-timeout', '1S'],
        ] as const) {
          const metadata = new Map([[key, value]]);
          await failsWith('INVALID_ARGUMENT', channel.unary('/t.T/Say', bytes(''), { metadata }));
        }
        assert.equal(runs, 0);
      }));

    for (const code of failureCodes) {
      it(`answers ${code} with its text and trailers`, () =>
        inWorld(open, async (world) => {
          const method = unaryMethod(async (_request, call) => {
            call.setTrailer('x-set', 'by-handler');
            throw new RpcError(code, `why: ${code} – ünïcode`, {
              metadata: new Map([['x-err', 'e']]),
            });
          });
          const { connect } = await world.serve(routes({ '/t.T/Fail': method }));
          const error = await failsWith(code, connect().unary('/t.T/Fail', bytes('')));
          assert.equal(error.message, `why: ${code} – ünïcode`);
          assert.equal(error.metadata.get('x-set'), 'by-handler');
          assert.equal(error.metadata.get('x-err'), 'e');
        }));
    }

    it('answers UNIMPLEMENTED for an unknown path, on any shape', () =>
      inWorld(open, async (world) => {
        const { connect } = await world.serve(routes({}));
        const channel = connect();
        await failsWith('UNIMPLEMENTED', channel.unary('/t.T/None', bytes('')));
        await failsWith('UNIMPLEMENTED', channel.stream('/t.T/None', noRequests()).next());
      }));

    it('answers each of many concurrent calls with its own result', () =>
      inWorld(open, async (world) => {
        const method = unaryMethod(async (request) => {
          await sleep(world.runtime, (Number(text(request)) * 7) % 20);
          return request;
        });
        const { connect } = await world.serve(routes({ '/t.T/Echo': method }));
        const channel = connect();
        const numbers = Array.from({ length: 100 }, (_, i) => String(i));
        const answers = await Promise.all(
          numbers.map(async (number) => text(await channel.unary('/t.T/Echo', bytes(number)))),
        );
        assert.deepEqual(answers, numbers);
      }));

    it('carries large messages both ways: 5 MiB, above the library default, or the limit', () =>
      inWorld(open, async (world) => {
        const method = unaryMethod(async (request) => request);
        const { connect } = await world.serve(routes({ '/t.T/Echo': method }));
        const length = Math.min(5 * 1024 * 1024, world.limitBytes);
        const big = Uint8Array.from({ length }, (_, i) => (i * 31) & 0xff);
        const answer = await connect().unary('/t.T/Echo', big);
        assert.equal(Buffer.compare(answer, big), 0);
      }));

    it('refuses a message above the limit in each direction, and the channel lives on', () =>
      inWorld(open, async (world) => {
        let runs = 0;
        const method = unaryMethod(async (request) => {
          runs += 1;
          return request.length === 0 ? new Uint8Array(world.limitBytes + 1) : bytes('ok');
        });
        const { connect } = await world.serve(routes({ '/t.T/Big': method }));
        const channel = connect();
        const large = new Uint8Array(world.limitBytes + 1);
        const up = await failsWith('RESOURCE_EXHAUSTED', channel.unary('/t.T/Big', large));
        assert.match(up.message, /message_too_large/);
        assert.equal(runs, 0);
        const down = await failsWith(
          'RESOURCE_EXHAUSTED',
          channel.unary('/t.T/Big', new Uint8Array()),
        );
        assert.match(down.message, /message_too_large/);
        assert.equal(text(await channel.unary('/t.T/Big', bytes('x'))), 'ok');
      }));

    it('fails INTERNAL when the method answers like a stream', () =>
      inWorld(open, async (world) => {
        const { connect } = await world.serve(
          routes({
            '/t.T/None': streamMethod(async function* () {}),
            '/t.T/Two': streamMethod(async function* () {
              yield bytes('1');
              yield bytes('2');
            }),
          }),
        );
        const channel = connect();
        await failsWith('INTERNAL', channel.unary('/t.T/None', bytes('')));
        await failsWith('INTERNAL', channel.unary('/t.T/Two', bytes('')));
      }));
  });
}

async function* noRequests(): AsyncIterable<Uint8Array> {}

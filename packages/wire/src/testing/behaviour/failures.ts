// What handlers throw and peers send wrong, through the router: stable codes, no effect, and a
// process that lives on.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BigFleetError } from '@bigfleet/base';
import { CapacityProvider } from '../../gen/bigfleet/v1alpha1/provider_pb.ts';
import { Shard } from '../../gen/bigfleet/v1alpha1/shard_pb.ts';
import { type Gate, openGate } from '../../rpc/authorisation.ts';
import { createClient } from '../../rpc/client.ts';
import { type Handlers, rawStream, rawUnary } from '../../rpc/handlers.ts';
import { Router } from '../../rpc/router.ts';
import { RpcError } from '../../transport/status.ts';
import {
  bytes,
  collect,
  eventually,
  failsWith,
  inWorld,
  of,
  type OpenWorld,
  routes,
  streamMethod,
  text,
} from './world.ts';

const GET = '/bigfleet.v1alpha1.CapacityProvider/Get';
const SESSION = '/bigfleet.v1alpha1.Shard/Session';
const malformed = Uint8Array.of(0xff, 0xff, 0xff);

type ProviderHandlers = Handlers<typeof CapacityProvider>;

function provider(overrides: Partial<ProviderHandlers>): ProviderHandlers {
  const refuse = async (): Promise<never> => {
    throw new RpcError('UNIMPLEMENTED', 'not in this test');
  };
  return {
    create: refuse,
    configure: refuse,
    drain: refuse,
    delete: refuse,
    get: refuse,
    list: refuse,
    ...overrides,
  };
}

export function describeFailures(open: OpenWorld): void {
  describe('failures', () => {
    it('answers an RpcError and a BigFleetError with their status', () =>
      inWorld(open, async (world) => {
        const router = new Router({ gate: openGate });
        router.add(
          CapacityProvider,
          provider({
            get: async ({ id }) => {
              if (id === 'rpc') throw new RpcError('NOT_FOUND', 'no such machine');
              throw new BigFleetError('quantity_malformed', 'cpu is "many"');
            },
          }),
        );
        const { connect } = await world.serve(router);
        const client = createClient(CapacityProvider, connect());
        await failsWith('NOT_FOUND', client.get({ id: 'rpc' }));
        const error = await failsWith('INVALID_ARGUMENT', client.get({ id: 'x' }));
        assert.equal(error.message, 'quantity_malformed: cpu is "many"');
        assert.equal(router.panicCount, 0);
      }));

    it('answers a bug with INTERNAL, counts it, tells nothing, and lives on', () =>
      inWorld(open, async (world) => {
        const panics: string[] = [];
        const router = new Router({ gate: openGate, onPanic: (path) => panics.push(path) });
        router.add(
          CapacityProvider,
          provider({
            get: async ({ id }) => {
              if (id === 'bug') throw new TypeError('secret detail');
              return { id };
            },
          }),
        );
        router.add(Shard, {
          session: async function* () {
            yield {};
            throw new TypeError('secret detail');
          },
        });
        const { connect } = await world.serve(router);
        const channel = connect();
        const client = createClient(CapacityProvider, channel);
        const error = await failsWith('INTERNAL', client.get({ id: 'bug' }));
        assert.doesNotMatch(error.message, /secret/);
        const session = createClient(Shard, channel).session(of0());
        assert.equal((await session.next()).done, false);
        await failsWith('INTERNAL', session.next());
        assert.deepEqual(panics, [GET, SESSION]);
        assert.equal(router.panicCount, 2);
        assert.equal((await client.get({ id: 'm-1' })).id, 'm-1');
      }));

    it('answers INTERNAL for a bug behind a bare byte router too', () =>
      inWorld(open, async (world) => {
        const broken = streamMethod(() => {
          throw new TypeError('thrown before the first message');
        });
        const { connect } = await world.serve(routes({ '/t.T/Broken': broken }));
        const error = await failsWith('INTERNAL', connect().stream('/t.T/Broken', of()).next());
        assert.doesNotMatch(error.message, /before/);
      }));

    it('refuses malformed bytes before the handler runs, unary and mid-stream', () =>
      inWorld(open, async (world) => {
        let gets = 0;
        let hellos = 0;
        const router = new Router({ gate: openGate });
        router.add(
          CapacityProvider,
          provider({
            get: async () => {
              gets += 1;
              return {};
            },
          }),
        );
        router.add(Shard, {
          session: async function* (requests) {
            for await (const _ of requests) hellos += 1;
            yield {};
          },
        });
        const { connect } = await world.serve(router);
        const channel = connect();
        const unary = await failsWith('INVALID_ARGUMENT', channel.unary(GET, malformed));
        assert.match(unary.message, /^message_malformed/);
        const responses = channel.stream(SESSION, twoMessages(new Uint8Array(), malformed));
        const stream = await failsWith('INVALID_ARGUMENT', responses.next());
        assert.match(stream.message, /^message_malformed/);
        assert.deepEqual({ gets, hellos }, { gets: 0, hellos: 1 });
      }));

    it('lets the gate refuse before the handler runs', () =>
      inWorld(open, async (world) => {
        let runs = 0;
        const gate: Gate = {
          admit: (call) =>
            call.path === GET
              ? undefined
              : new RpcError('PERMISSION_DENIED', 'identity_denied: role'),
          bind: () => new RpcError('PERMISSION_DENIED', 'identity_denied: id'),
        };
        const count = async (): Promise<object> => {
          runs += 1;
          return {};
        };
        const router = new Router({ gate });
        router.add(CapacityProvider, provider({ get: count, list: count }));
        const { connect } = await world.serve(router);
        const client = createClient(CapacityProvider, connect());
        const role = await failsWith('PERMISSION_DENIED', client.list({}));
        assert.equal(role.message, 'identity_denied: role');
        const id = await failsWith('PERMISSION_DENIED', client.get({ id: 'm-1' }));
        assert.equal(id.message, 'identity_denied: id');
        assert.equal(runs, 0);
      }));

    it('hands raw handlers the bytes as they came', () =>
      inWorld(open, async (world) => {
        const router = new Router({ gate: openGate });
        router.add(CapacityProvider, provider({ list: rawUnary(async (request) => request) }));
        router.add(Shard, { session: rawStream((requests) => requests) });
        const { connect } = await world.serve(router);
        const channel = connect();
        const list = '/bigfleet.v1alpha1.CapacityProvider/List';
        assert.deepEqual(await channel.unary(list, malformed), malformed);
        const echoed = await collect(channel.stream(SESSION, of('not', 'protobuf')));
        assert.deepEqual(echoed, ['not', 'protobuf']);
      }));

    it('cancels the call when the request stream itself fails', () =>
      inWorld(open, async (world) => {
        let requestsEnded: unknown;
        const listen = streamMethod(async function* (requests) {
          try {
            for await (const request of requests) yield request;
            requestsEnded = 'cleanly';
          } catch (error) {
            requestsEnded = error;
            throw error;
          }
        });
        const { connect } = await world.serve(routes({ '/t.T/Echo': listen }));
        const bug = new TypeError('the caller is broken');
        async function* broken(): AsyncIterable<Uint8Array> {
          yield bytes('one');
          await eventually(world, 'the echo', () => echoed === 1);
          throw bug;
        }
        let echoed = 0;
        const responses = connect().stream('/t.T/Echo', broken());
        const first = await responses.next();
        assert.ok(first.done !== true && text(first.value) === 'one');
        echoed = 1;
        const error = await failsWith('CANCELLED', responses.next());
        assert.equal(error.cause, bug);
        await eventually(world, 'the handler to notice', () => requestsEnded !== undefined);
        assert.notEqual(requestsEnded, 'cleanly');
      }));
  });
}

async function* of0(): AsyncIterable<object> {}

async function* twoMessages(a: Uint8Array, b: Uint8Array): AsyncIterable<Uint8Array> {
  yield a;
  yield b;
}

// Typed services of the contract over the transport: every method kind that the contract has.
// It has no client-streaming method; that shape is in streams.ts.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CapacityProvider } from '../../gen/bigfleet/v1alpha1/provider_pb.ts';
import { Shard } from '../../gen/bigfleet/v1alpha1/shard_pb.ts';
import { ShardRead } from '../../gen/bigfleet/v1alpha1/shardread_pb.ts';
import { openGate } from '../../rpc/authorisation.ts';
import { createClient } from '../../rpc/client.ts';
import { Router } from '../../rpc/router.ts';
import { inWorld, type OpenWorld } from './world.ts';

export function describeServices(open: OpenWorld): void {
  describe('typed services', () => {
    it('serves unary: CapacityProvider.Get', () =>
      inWorld(open, async (world) => {
        const unused = async (): Promise<object> => ({});
        const router = new Router({ gate: openGate }).add(CapacityProvider, {
          create: unused,
          configure: unused,
          drain: unused,
          delete: unused,
          get: async ({ id }) => ({ id, zone: 'zone-a' }),
          list: unused,
        });
        const { connect } = await world.serve(router);
        const machine = await createClient(CapacityProvider, connect()).get({ id: 'm-1' });
        assert.deepEqual([machine.id, machine.zone], ['m-1', 'zone-a']);
      }));

    it('serves a server stream: ShardRead.InspectNeeds', () =>
      inWorld(open, async (world) => {
        const router = new Router({ gate: openGate }).add(ShardRead, {
          inspectNeeds: async function* ({ limit, clusterId }) {
            yield { frame: { case: 'header', value: { cycle: 2n ** 62n, totalNeeds: limit } } };
            for (let i = 0; i < limit; i += 1) {
              const value = { clusterId, claimedMachineCount: i };
              yield { frame: { case: 'need', value } };
            }
          },
        });
        const { connect } = await world.serve(router);
        const frames = createClient(ShardRead, connect()).inspectNeeds({
          clusterId: 'c',
          limit: 30,
        });
        const counts: (number | bigint)[] = [];
        for await (const { frame } of frames) {
          if (frame.case === 'header') counts.push(frame.value.cycle);
          if (frame.case === 'need') counts.push(frame.value.claimedMachineCount);
        }
        assert.deepEqual(counts, [2n ** 62n, ...Array.from({ length: 30 }, (_, i) => i)]);
      }));

    it('serves a conversation: Shard.Session', () =>
      inWorld(open, async (world) => {
        const router = new Router({ gate: openGate }).add(Shard, {
          session: async function* (requests) {
            for await (const { payload } of requests) {
              if (payload.case !== 'hello') continue;
              yield { payload: { case: 'ack', value: { echo: payload.value.clusterId } } };
            }
          },
        });
        const { connect } = await world.serve(router);
        const session = createClient(Shard, connect()).session(hellos(25));
        const ids: string[] = [];
        for await (const { payload } of session) {
          if (payload.case === 'ack') ids.push(payload.value.echo);
        }
        assert.deepEqual(
          ids,
          Array.from({ length: 25 }, (_, i) => `cluster-${i}`),
        );
      }));
  });
}

type HelloFrame = { payload: { case: 'hello'; value: { clusterId: string } } };

async function* hellos(count: number): AsyncIterable<HelloFrame> {
  for (let i = 0; i < count; i += 1) {
    yield { payload: { case: 'hello', value: { clusterId: `cluster-${i}` } } };
  }
}

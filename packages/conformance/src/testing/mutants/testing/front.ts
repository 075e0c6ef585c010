// A provider whose service is written wrong: the kit's handlers do the work, and in front of them,
// on the server's side of the wire, stand handlers that a tampering changed. It sees every request
// as it was decoded and every answer before it is encoded, as an author's own service code does.

import type { Runtime } from '@bigfleet/base';
import {
  CapacityProvider,
  type FencingToken,
  isAbsentToken,
  openGate,
  Router,
  RpcError,
  toMap,
} from '@bigfleet/wire';
import { endpointOver } from '../../../harness/dial.ts';
import type { Answer, Endpoint, MachineCall } from '../../../harness/endpoint.ts';
import type { Layers, ProviderHandlers } from '../../../harness/testing/layers.ts';
import { tamper, type Tampering } from '../../../harness/testing/tamper.ts';
import { loopback } from './loopback.ts';
import { ackMessage, listMessage, listQuery, machineMessage } from './messages.ts';

/** Called per process, with its time: what a tampering remembers dies with the process. */
export function inFront(tampering: (runtime: Runtime) => Tampering): Layers {
  return {
    handlers: (right, runtime) => served(tamper(behind(right, runtime), tampering(runtime))),
  };
}

/** The right provider as its front sees it. */
function behind(right: ProviderHandlers, runtime: Runtime): Endpoint {
  const router = new Router({ gate: openGate }).add(CapacityProvider, right);
  const { signal } = new AbortController();
  return endpointOver(loopback(router), { runtime, target: 'loopback', signal });
}

function served(endpoint: Endpoint): ProviderHandlers {
  return {
    create: async (request) => ackMessage(valueOf(await endpoint.create(callOf(request)))),
    configure: async (request) => {
      const { clusterId, bootstrapBlob: blob, shardMetadata } = request;
      const call = { ...callOf(request), clusterId, blob, metadata: toMap(shardMetadata) };
      return ackMessage(valueOf(await endpoint.configure(call)));
    },
    drain: async (request) => {
      const call = { ...callOf(request), graceSeconds: request.gracePeriodSeconds };
      return ackMessage(valueOf(await endpoint.drain(call)));
    },
    delete: async (request) => ackMessage(valueOf(await endpoint.delete(callOf(request)))),
    get: async ({ id }) => machineMessage(valueOf(await endpoint.get(id))),
    list: async (filter) => listMessage(valueOf(await endpoint.list(listQuery(filter)))),
  };
}

function callOf(request: FencingToken & { readonly machineId: string }): MachineCall {
  const { machineId, shardId, shardEpoch, sequenceNumber } = request;
  const token = { shardId, shardEpoch, sequenceNumber };
  return { machineId, token: isAbsentToken(token) ? undefined : token };
}

function valueOf<T>(answer: Answer<T>): T {
  if (answer.ok) return answer.value;
  throw new RpcError(answer.code, answer.message);
}

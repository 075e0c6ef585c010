// One mutating call straight into the handlers: no transport between the caller and the order of
// events that the run decides.

import assert from 'node:assert/strict';
import { BigFleetError } from '@bigfleet/base';
import {
  type CallContext,
  ConfigureRequestSchema,
  CreateRequestSchema,
  decode,
  DeleteRequestSchema,
  DrainRequestSchema,
  encodeInit,
} from '@bigfleet/wire';
import type { Provider } from '../../provider.ts';
import type { Question } from './history.ts';

const blob = new TextEncoder().encode('secret-join-token');

const context: CallContext = {
  path: '/test',
  peer: { address: 'test', identity: { kind: 'unverified' } },
  metadata: new Map(),
  signal: new AbortController().signal,
  setTrailer: () => {},
};

export interface Answer {
  readonly code: string;
  readonly operationId: string | undefined;
}

export async function ask(provider: Provider, question: Question): Promise<Answer> {
  try {
    const { operationId, machine } = await send(provider, question);
    assert.equal(machine?.id, question.machineId);
    return { code: 'OK', operationId };
  } catch (error) {
    if (!(error instanceof BigFleetError)) throw error;
    return { code: error.grpcStatus, operationId: undefined };
  }
}

interface WireAck {
  readonly operationId?: string;
  readonly machine?: { readonly id?: string } | undefined;
}

async function send({ handlers }: Provider, question: Question): Promise<WireAck> {
  const request = { machineId: question.machineId, ...question.token };
  const { create, configure, drain, delete: deletion } = handlers;
  switch (question.kind) {
    case 'create':
      assert.ok(typeof create === 'function');
      return await create(
        decode(CreateRequestSchema, encodeInit(CreateRequestSchema, request), 'INTERNAL'),
        context,
      );
    case 'configure': {
      assert.ok(typeof configure === 'function');
      const binding = { clusterId: 'a', bootstrapBlob: blob, shardMetadata: { k: 'v' } };
      const bytes = encodeInit(ConfigureRequestSchema, { ...request, ...binding });
      return await configure(decode(ConfigureRequestSchema, bytes, 'INTERNAL'), context);
    }
    case 'drain':
      assert.ok(typeof drain === 'function');
      return await drain(
        decode(DrainRequestSchema, encodeInit(DrainRequestSchema, request), 'INTERNAL'),
        context,
      );
    case 'delete':
      assert.ok(typeof deletion === 'function');
      return await deletion(
        decode(DeleteRequestSchema, encodeInit(DeleteRequestSchema, request), 'INTERNAL'),
        context,
      );
  }
}

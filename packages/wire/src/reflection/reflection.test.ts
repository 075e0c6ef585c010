// Proves that a client can rebuild our whole contract from reflection alone.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, createFileRegistry, fromBinary } from '@bufbuild/protobuf';
import {
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from '@bufbuild/protobuf/wkt';
import { ShardAdmin, ShardQuery } from '../gen/bigfleet/ext/v1alpha1/services_pb.ts';
import { CapacityProvider } from '../gen/bigfleet/v1alpha1/provider_pb.ts';
import {
  type ServerReflectionRequest,
  ServerReflectionRequestSchema,
  type ServerReflectionResponse,
  ServerReflectionResponseSchema,
} from '../gen/grpc/reflection/v1/reflection_pb.ts';
import type { CallContext } from '../transport/transport.ts';
import { reflectionHandlers } from './reflection.ts';

const { serverReflectionInfo } = reflectionHandlers(() => [
  ShardQuery,
  CapacityProvider,
  ShardAdmin,
]);
const call = {} as CallContext;

async function ask(
  messageRequest: ServerReflectionRequest['messageRequest'],
): Promise<ServerReflectionResponse['messageResponse']> {
  assert.ok(typeof serverReflectionInfo === 'function');
  const request = create(ServerReflectionRequestSchema, { host: 'h', messageRequest });
  async function* requests() {
    yield request;
  }
  for await (const response of serverReflectionInfo(requests(), call)) {
    const full = create(ServerReflectionResponseSchema, response);
    assert.equal(full.validHost, 'h');
    assert.deepEqual(full.originalRequest, request);
    return full.messageResponse;
  }
  throw new Error('no answer');
}

function importsFirst(
  files: readonly FileDescriptorProto[],
  root: FileDescriptorProto,
): FileDescriptorProto[] {
  const ordered = new Set<FileDescriptorProto>();
  const visit = (file: FileDescriptorProto): void => {
    for (const name of file.dependency) {
      const imported = files.find((candidate) => candidate.name === name);
      assert.ok(imported, `${file.name} imports ${name}, which was not sent`);
      visit(imported);
    }
    ordered.add(file);
  };
  visit(root);
  return [...ordered];
}

test('lists the services, sorted', async () => {
  const answer = await ask({ case: 'listServices', value: '' });
  assert.ok(answer.case === 'listServicesResponse');
  assert.deepEqual(
    answer.value.service.map((service) => service.name),
    [
      'bigfleet.ext.v1alpha1.ShardAdmin',
      'bigfleet.ext.v1alpha1.ShardQuery',
      'bigfleet.v1alpha1.CapacityProvider',
    ],
  );
});

test('a file comes with its imports and rebuilds every type it names', async () => {
  for (const symbol of [
    'bigfleet.ext.v1alpha1.ShardQuery',
    'bigfleet.ext.v1alpha1.ShardQuery.Watch',
    'bigfleet.ext.v1alpha1.WatchFrame',
    'bigfleet.ext.v1alpha1.ActuationHold',
  ]) {
    const answer = await ask({ case: 'fileContainingSymbol', value: symbol });
    assert.ok(answer.case === 'fileDescriptorResponse', symbol);
    const files = answer.value.fileDescriptorProto.map((bytes) =>
      fromBinary(FileDescriptorProtoSchema, bytes),
    );
    // Clients take the first for the one they asked for.
    assert.equal(files[0]?.name, 'bigfleet/ext/v1alpha1/services.proto');
    const registry = createFileRegistry(
      create(FileDescriptorSetSchema, { file: importsFirst(files, files[0]) }),
    );
    assert.equal(registry.getService('bigfleet.ext.v1alpha1.ShardQuery')?.methods.length, 8);
    assert.ok(registry.getMessage('bigfleet.v1alpha1.CapacityNeed'));
  }
});

test('by file name, nested enums, unknown names and empty requests', async () => {
  const byName = await ask({ case: 'fileByFilename', value: 'bigfleet/v1alpha1/provider.proto' });
  assert.equal(byName.case, 'fileDescriptorResponse');
  const nested = await ask({
    case: 'fileContainingSymbol',
    value: 'bigfleet.v1alpha1.InstructAck.Outcome',
  });
  assert.equal(nested.case, 'fileDescriptorResponse');
  for (const [request, code] of [
    [{ case: 'fileContainingSymbol', value: 'no.Such' }, 5],
    [{ case: 'fileByFilename', value: '../../etc/passwd' }, 5],
    [{ case: 'allExtensionNumbersOfType', value: 'x' }, 5],
    [{ case: undefined }, 3],
  ] as const) {
    const answer = await ask(request);
    assert.ok(answer.case === 'errorResponse');
    assert.equal(answer.value.errorCode, code);
  }
});

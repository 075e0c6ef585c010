// The standard gRPC server reflection service, answered from the descriptors that the
// generated code carries. Off by default on core servers, on by default on providers.

import {
  type DescFile,
  type DescService,
  type MessageInitShape,
  toBinary,
} from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import type { Handlers } from '../rpc/handlers.ts';
import type {
  ServerReflection,
  ServerReflectionRequest,
  ServerReflectionResponseSchema,
} from '../gen/grpc/reflection/v1/reflection_pb.ts';
import { statusNumber } from '../transport/status.ts';

type Answer = MessageInitShape<typeof ServerReflectionResponseSchema>;

/** `services` is read per request, so that services added later are listed too. */
export function reflectionHandlers(
  services: () => readonly DescService[],
): Handlers<typeof ServerReflection> {
  return {
    async *serverReflectionInfo(requests) {
      for await (const request of requests) {
        yield { ...answer(request, services()), validHost: request.host, originalRequest: request };
      }
    },
  };
}

function answer(
  { messageRequest }: ServerReflectionRequest,
  services: readonly DescService[],
): Answer {
  switch (messageRequest.case) {
    case 'listServices':
      return listed(services);
    case 'fileByFilename':
      return file(
        find(services, (candidate) => `${candidate.name}.proto` === messageRequest.value),
      );
    case 'fileContainingSymbol':
      return file(find(services, (candidate) => declares(candidate, messageRequest.value)));
    case 'fileContainingExtension':
    case 'allExtensionNumbersOfType':
      return failed('NOT_FOUND', 'this server declares no extensions');
    default:
      return failed('INVALID_ARGUMENT', 'empty reflection request');
  }
}

function listed(services: readonly DescService[]): Answer {
  const names = services.map((service) => service.typeName).sort();
  const service = names.map((name) => ({ name }));
  return { messageResponse: { case: 'listServicesResponse', value: { service } } };
}

/** The file and everything it imports: a client may ask for each only once. */
function file(found: DescFile | undefined): Answer {
  if (found === undefined) return failed('NOT_FOUND', 'not found');
  const fileDescriptorProto = withImports([found]).map(({ proto }) =>
    toBinary(FileDescriptorProtoSchema, proto),
  );
  return { messageResponse: { case: 'fileDescriptorResponse', value: { fileDescriptorProto } } };
}

function failed(code: 'NOT_FOUND' | 'INVALID_ARGUMENT', errorMessage: string): Answer {
  const errorCode = statusNumber(code);
  return { messageResponse: { case: 'errorResponse', value: { errorCode, errorMessage } } };
}

function find(services: readonly DescService[], matches: (file: DescFile) => boolean) {
  return withImports(services.map((service) => service.file)).find(matches);
}

function withImports(files: readonly DescFile[]): DescFile[] {
  const seen = new Set<DescFile>();
  const visit = (candidate: DescFile): void => {
    if (seen.has(candidate)) return;
    seen.add(candidate);
    for (const dependency of candidate.dependencies) visit(dependency);
  };
  for (const candidate of files) visit(candidate);
  return [...seen];
}

/** A symbol is a service, a method of one, a message (nested ones too) or an enum. */
function declares(candidate: DescFile, symbol: string): boolean {
  const inMessages = (messages: DescFile['messages']): boolean =>
    messages.some(
      (message) =>
        message.typeName === symbol ||
        message.nestedEnums.some((nested) => nested.typeName === symbol) ||
        inMessages(message.nestedMessages),
    );
  return (
    candidate.services.some(
      (service) =>
        service.typeName === symbol ||
        service.methods.some((method) => `${service.typeName}.${method.name}` === symbol),
    ) ||
    candidate.enums.some((declared) => declared.typeName === symbol) ||
    inMessages(candidate.messages)
  );
}

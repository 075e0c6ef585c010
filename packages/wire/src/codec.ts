// Messages to bytes and back. The one place that calls the protobuf library's codec.
// Bytes that do not decode are the sender's fault and have a stable code; they never
// surface as a bare library error. Framing is checked first, because the library reads some
// corrupt frames as a different, plausible message.

import {
  create,
  type DescMessage,
  type DescMethod,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import { framingProblem } from './framing.ts';
import { RpcError } from './transport/status.ts';

export function encode<D extends DescMessage>(schema: D, message: MessageShape<D>): Uint8Array {
  return toBinary(schema, message);
}

export function encodeInit<D extends DescMessage>(
  schema: D,
  init: MessageInitShape<D>,
): Uint8Array {
  return toBinary(schema, create(schema, init));
}

/** Decodes what a peer sent; `code` says whose fault bad bytes are on this side of the call. */
export function decode<D extends DescMessage>(
  schema: D,
  bytes: Uint8Array,
  code: 'INVALID_ARGUMENT' | 'INTERNAL',
): MessageShape<D> {
  const problem = framingProblem(schema, bytes);
  if (problem !== undefined) {
    throw new RpcError(code, `message_malformed: not a ${schema.typeName}: ${problem}`);
  }
  try {
    return fromBinary(schema, bytes);
  } catch (cause) {
    throw new RpcError(code, `message_malformed: not a ${schema.typeName}`, { cause });
  }
}

/** The path of a method on the wire: /package.Service/Method. */
export function pathOf(method: DescMethod): string {
  return `/${method.parent.typeName}/${method.name}`;
}

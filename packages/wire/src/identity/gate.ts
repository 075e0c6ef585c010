// What the router asks of authorisation. The matrix behind it is security §3, in
// authorisation.ts; a simulator without identities may use `openGate`.

import type { Message } from '@bufbuild/protobuf';
import type { RpcError } from '../transport/status.ts';
import type { CallContext } from '../transport/transport.ts';

export interface Gate {
  /** May this peer call this method at all? Before anything is decoded. */
  admit(call: CallContext): RpcError | undefined;
  /** Does the peer's id match the one that the request claims? After decoding. */
  bind(call: CallContext, request: Message): RpcError | undefined;
}

/** Admits everything, for tests of transports and services that have no row in the matrix. */
export const openGate: Gate = { admit: () => undefined, bind: () => undefined };

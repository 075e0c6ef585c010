// Turns what a handler threw into the status that the caller gets. The environment's
// errors carry their status in the catalogue, and their stable code leads the text, so
// that a person can search for it. Anything else is a bug of ours and stays unknown here.

import { BigFleetError } from '@bigfleet/base';
import { RpcError } from '../transport/status.ts';

export function toRpcError(thrown: unknown): RpcError | undefined {
  if (thrown instanceof RpcError) return thrown;
  if (!(thrown instanceof BigFleetError)) return undefined;
  const { grpcStatus } = thrown;
  if (grpcStatus === 'OK' || thrown.code === 'internal') return undefined;
  return new RpcError(grpcStatus, `${thrown.code}: ${thrown.message}`, { cause: thrown });
}

// How the fake refuses, in the classes that the shard's client makes of a provider's statuses.

import type { FailureCode, FenceMark, FencingToken } from '@bigfleet/wire';
import { failureOf, ProviderError } from '../../provider/provider-error.ts';

export function invalid(message: string): ProviderError {
  return refusal('INVALID_ARGUMENT', message);
}

export function notFound(machineId: string): ProviderError {
  return refusal('NOT_FOUND', `no machine ${JSON.stringify(machineId)}`);
}

export function notSupported(): ProviderError {
  return refusal('UNIMPLEMENTED', 'this capacity cannot be deleted');
}

export function fenced(token: FencingToken, mark: FenceMark): ProviderError {
  const shown = `(${token.shardEpoch}, ${token.sequenceNumber})`;
  const newest = `(${mark.shardEpoch}, ${mark.sequenceNumber})`;
  return refusal(
    'FAILED_PRECONDITION',
    `token ${shown} of ${token.shardId} is not after ${newest}`,
  );
}

/** Never FAILED_PRECONDITION, which means fenced and nothing else. */
export function outOfPosition(message: string): ProviderError {
  return refusal('INTERNAL', message);
}

export function overloaded(message: string): ProviderError {
  return refusal('RESOURCE_EXHAUSTED', message);
}

function refusal(status: FailureCode, message: string): ProviderError {
  return new ProviderError({ failure: failureOf(status), status, message });
}

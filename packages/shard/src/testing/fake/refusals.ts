// How the fake refuses, in the classes that the shard's client makes of a provider's statuses, and the
// fence that it refuses by.

import { checkFence, type FailureCode, type FenceMark, type FencingToken } from '@bigfleet/wire';
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

function fenced(token: FencingToken, mark: FenceMark): ProviderError {
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

function overloaded(message: string): ProviderError {
  return refusal('RESOURCE_EXHAUSTED', message);
}

function refusal(status: FailureCode, message: string): ProviderError {
  return new ProviderError({ failure: failureOf(status), status, message });
}

// High-water marks per (shard, machine). A mark moves the moment a token passes, whatever becomes
// of the operation; the mark of a machine that does not exist is kept too.

/** Ghost ids leave marks as well: a caller that invents ids must not fill the memory. */
const MAX_MARKS = 1_000_000;

export class FenceMarks {
  readonly #marks = new Map<string, Map<string, FenceMark>>();
  #count = 0;

  /** Throws when the token is not newer; otherwise its mark holds from now on. */
  pass(token: FencingToken, machineId: string): void {
    const ofShard = this.#marks.get(token.shardId);
    const mark = ofShard?.get(machineId);
    const verdict = checkFence(token, mark);
    if (verdict.kind === 'absent') return;
    if (verdict.kind === 'stale') throw fenced(token, verdict.mark);
    if (mark === undefined) {
      if (this.#count >= MAX_MARKS) throw overloaded('too many fence marks');
      this.#count += 1;
    }
    if (ofShard !== undefined) ofShard.set(machineId, verdict.mark);
    else this.#marks.set(token.shardId, new Map([[machineId, verdict.mark]]));
  }
}

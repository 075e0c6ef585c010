// From what a call threw to an error with a stable code that says whom it was asked of, and from there
// to the lines that a person reads. The one boundary where RpcErrors become ours. A refusal keeps the
// server's words and, when they carry one, its code.

import {
  BigFleetError,
  describeThrown,
  type ErrorCode,
  errorCatalogue,
  isErrorCode,
} from '@bigfleet/base';
import { RpcError } from '@bigfleet/wire';
import { cleanText } from '../output/text.ts';

export interface Peer {
  readonly kind: 'coordinator' | 'shard' | 'provider';
  /** As a person would say it: `shard shard-3 at host:7780`. */
  readonly name: string;
}

/** The library has no words for a peer that hangs up in the handshake. */
const ENDED_AT_ONCE =
  'it ended the connection in the handshake: a certificate of ours that has expired or is of another ' +
  'authority, or TLS on one side only; bigfleetctl doctor looks at the certificates';

/** `coordinator: shard not found`, and not that there is nothing to save. */
const NAMES_A_THING = /not found\b/;

/** A bug stays what it is. */
export function callFailure(thrown: unknown, peer: Peer, feature: string): unknown {
  if (!(thrown instanceof RpcError)) return thrown;
  const [code, message] = failureOf(thrown, peer, feature);
  return new BigFleetError(code, message, { cause: thrown });
}

function failureOf(
  { code, message }: RpcError,
  { kind, name }: Peer,
  feature: string,
): readonly [code: ErrorCode, message: string] {
  const carried = codeIn(message);
  if (carried !== undefined) return [carried.code, `${name}: ${carried.rest}`];
  const refusal = `${name}: ${message} (${code})`;
  switch (code) {
    case 'UNIMPLEMENTED': {
      const why = `it is older than this bigfleetctl, or no ${kind}`;
      return ['feature_missing', `${name} does not know "${feature}": ${why}`];
    }
    case 'NOT_FOUND':
      return [NAMES_A_THING.test(message) ? 'thing_not_found' : 'request_refused', refusal];
    case 'UNAVAILABLE':
      if (kind === 'coordinator' && message.startsWith('coordinator: ')) {
        // Its own words: it was reached, and the address is right.
        return ['coordinator_store_unavailable', `${name}: ${message}`];
      }
      return [`${kind}_unreachable`, `cannot reach ${name}: ${transportText(message)}`];
    case 'DEADLINE_EXCEEDED':
      return ['deadline_exceeded', `${name} did not answer in time`];
    case 'PERMISSION_DENIED':
      return ['identity_denied', `${name}: ${message}`];
    default:
      return ['request_refused', refusal];
  }
}

/** Servers lead their texts with the catalogue's code. */
function codeIn(message: string): { readonly code: ErrorCode; readonly rest: string } | undefined {
  const [, code = '', rest = ''] = /^([a-z][a-z0-9_]*): ([\s\S]*)$/.exec(message) ?? [];
  return isErrorCode(code) ? { code, rest } : undefined;
}

/** Without the library's framing around the reason. */
function transportText(message: string): string {
  return message
    .replace(/^No connection established\. Last error: /, '')
    .replace(/^Error: /, '')
    .replace(/^Failed to connect \(.*\)$/, ENDED_AT_ONCE);
}

/** `code: what happened`, and what to do. A bug keeps its stack: whoever reports it needs it. */
export function describeFailure(thrown: unknown): { readonly line: string; readonly next: string } {
  if (thrown instanceof BigFleetError) return described(thrown.code, cleanText(thrown.message));
  if (isFileError(thrown)) return described('local_file_failed', cleanText(thrown.message));
  const stack = thrown instanceof Error ? thrown.stack : undefined;
  return described('internal', stack ?? describeThrown(thrown));
}

function described(code: ErrorCode, text: string) {
  return { line: `${code}: ${text}`, next: errorCatalogue[code].action };
}

/** Of a call to the system: a file that cannot be read or written here. */
export function isFileError(thrown: unknown): thrown is Error {
  return thrown instanceof Error && 'syscall' in thrown && 'code' in thrown;
}

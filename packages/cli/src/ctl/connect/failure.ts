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

const UNREACHABLE: Readonly<Record<Peer['kind'], ErrorCode>> = {
  coordinator: 'coordinator_unreachable',
  shard: 'shard_unreachable',
  provider: 'provider_unreachable',
};

/** The library has no words for a peer that hangs up in the handshake. */
const ENDED_AT_ONCE =
  'it ended the connection in the handshake: a certificate of ours that has expired or is of another ' +
  'authority, or TLS on one side only; bigfleetctl doctor looks at the certificates';

/** `coordinator: shard not found`, and not that there is nothing to save. */
const NAMES_A_THING = /not found\b/;

/** A bug stays what it is. */
export function callFailure(thrown: unknown, peer: Peer, feature: string): unknown {
  if (!(thrown instanceof RpcError)) return thrown;
  const { code, message } = thrown;
  const carried = codeIn(message);
  if (carried !== undefined) {
    return new BigFleetError(carried.code, `${peer.name}: ${carried.rest}`, { cause: thrown });
  }
  switch (code) {
    case 'UNIMPLEMENTED':
      return new BigFleetError(
        'feature_missing',
        `${peer.name} does not know "${feature}": it is older than this bigfleetctl, or no ${peer.kind}`,
        { cause: thrown },
      );
    case 'NOT_FOUND':
      return new BigFleetError(
        NAMES_A_THING.test(message) ? 'thing_not_found' : 'request_refused',
        `${peer.name}: ${message} (${code})`,
        { cause: thrown },
      );
    case 'UNAVAILABLE':
      if (peer.kind === 'coordinator' && message.startsWith('coordinator: ')) {
        // Its own words: it was reached, and the address is right.
        return new BigFleetError('coordinator_store_unavailable', `${peer.name}: ${message}`, {
          cause: thrown,
        });
      }
      return new BigFleetError(
        UNREACHABLE[peer.kind],
        `cannot reach ${peer.name}: ${transportText(message)}`,
        { cause: thrown },
      );
    case 'DEADLINE_EXCEEDED':
      return new BigFleetError('deadline_exceeded', `${peer.name} did not answer in time`, {
        cause: thrown,
      });
    case 'PERMISSION_DENIED':
      return new BigFleetError('identity_denied', `${peer.name}: ${message}`, { cause: thrown });
    default:
      return new BigFleetError('request_refused', `${peer.name}: ${message} (${code})`, {
        cause: thrown,
      });
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

interface DescribedFailure {
  /** `code: what happened`. */
  readonly line: string;
  /** What to do; empty when there is nothing to say. */
  readonly next: string;
}

/** A bug keeps its stack: whoever reports it needs it. */
export function describeFailure(thrown: unknown): DescribedFailure {
  if (thrown instanceof BigFleetError) {
    const line = `${thrown.code}: ${cleanText(thrown.message)}`;
    return { line, next: errorCatalogue[thrown.code].action };
  }
  if (isFileError(thrown)) {
    const line = `local_file_failed: ${cleanText(thrown.message)}`;
    return { line, next: errorCatalogue.local_file_failed.action };
  }
  const stack = thrown instanceof Error ? thrown.stack : undefined;
  return {
    line: `internal: ${stack ?? describeThrown(thrown)}`,
    next: errorCatalogue.internal.action,
  };
}

/** Of a call to the system: a file that cannot be read or written here. */
function isFileError(thrown: unknown): thrown is Error {
  return thrown instanceof Error && 'syscall' in thrown && 'code' in thrown;
}

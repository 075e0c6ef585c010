// How the dashboard reaches shards and coordinators: gRPC in production, the in-memory network when a test
// runs a whole fleet in one process.

import { BigFleetError, describeThrown, isErrorCode, type Runtime } from '@bigfleet/base';
import {
  type Channel,
  createGrpcChannel,
  RpcError,
  type ServerIdentityRule,
  type TlsMaterial,
} from '@bigfleet/wire';
import type { Problem } from '../../api/index.ts';

export interface Dial {
  readonly target: string;
  /** Who the server must be, under TLS (security §3.2). */
  readonly serverIdentity: ServerIdentityRule;
}

export interface Network {
  connect(dial: Dial): Channel;
}

/** A page waits for what comes back: seconds, not the minutes of a patient session. */
const RECONNECT_MS = { initial: 200, max: 3_000 };

export function grpcNetwork(runtime: Runtime, tls: TlsMaterial | undefined): Network {
  return {
    connect: ({ target, serverIdentity }) =>
      createGrpcChannel({
        runtime,
        target,
        reconnectBackoffMs: RECONNECT_MS,
        ...(tls === undefined ? {} : { tls, serverIdentity }),
      }),
  };
}

/** A shard that was told no host registers `:7780`, which means its own machine. */
export function dialTarget(address: string): string {
  return address.startsWith(':') ? `localhost${address}` : address;
}

const WORDS: Readonly<Record<string, string>> = {
  UNAVAILABLE: 'cannot be reached',
  DEADLINE_EXCEEDED: 'did not answer in time',
  UNIMPLEMENTED: 'is too old to be asked this',
  PERMISSION_DENIED: 'refuses this certificate',
};

/** What a call threw, as a problem that says whom it was asked of. Keeps a server's own code. */
export function problemOf(thrown: unknown, peer: string): Problem {
  if (thrown instanceof BigFleetError) {
    const isLate = thrown.code === 'deadline_exceeded';
    const message = isLate ? `${peer} did not answer in time` : `${peer}: ${thrown.message}`;
    return { code: thrown.code, message };
  }
  if (!(thrown instanceof RpcError)) throw thrown;
  const [, code = '', rest = ''] = /^([a-z][a-z0-9_]*): ([\s\S]*)$/.exec(thrown.message) ?? [];
  if (isErrorCode(code)) return { code, message: `${peer}: ${rest}` };
  const words = WORDS[thrown.code];
  const detail = transportText(describeThrown(thrown));
  const message = words === undefined ? `${peer}: ${detail}` : `${peer} ${words}: ${detail}`;
  return { code: codeOf(thrown), message };
}

function codeOf({ code }: RpcError): string {
  if (code === 'UNIMPLEMENTED') return 'feature_missing';
  if (code === 'PERMISSION_DENIED' || code === 'UNAUTHENTICATED') return 'identity_denied';
  return code === 'DEADLINE_EXCEEDED' ? 'deadline_exceeded' : 'unavailable';
}

/** Without the library's framing around the reason. */
function transportText(message: string): string {
  return message
    .replace(/^No connection established\. Last error: /, '')
    .replace(/^Error: /, '')
    .slice(0, 300);
}

// An endpoint that a lane judges: how to dial it, and what it is in words, for the report.

import type { TlsMaterial } from '@bigfleet/wire';

export interface RemoteTarget {
  /** `host:port`, `[::1]:port` or `unix:/path`. */
  readonly target: string;
  readonly tls?: TlsMaterial | undefined;
}

export interface Judged extends RemoteTarget {
  readonly description: string;
  /** Kills the process if the suite booted one. Idempotent. */
  readonly close: () => Promise<void>;
}

export function judgedTarget(remote: RemoteTarget): Judged {
  return { ...remote, description: remote.target, close: async () => {} };
}

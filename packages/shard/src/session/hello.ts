// The first frame of a session. It must be a Hello that names a cluster inside the id grammar, with
// or without TLS, so that turning TLS on later strands nobody (security §2). It also offers the
// extensions that the session may use.

import { type ClusterId, parseClusterId } from '@bigfleet/base';
import { type Hello, RpcError } from '@bigfleet/wire';
import type { OperatorFrame } from './operator-frame.ts';

export const HELLO_DEADLINE_MS = 10_000;

/** Throws the status for anything else. */
export function readGreeting(frame: OperatorFrame): { cluster: ClusterId; hello: Hello } {
  if (frame.case !== 'hello' || frame.value.clusterId === '') throw helloMissing();
  const hello = frame.value;
  const cluster = parseClusterId(hello.clusterId);
  if (!cluster.ok) throw new RpcError('INVALID_ARGUMENT', `id_malformed: ${cluster.error.problem}`);
  return { cluster: cluster.value, hello };
}

export function helloMissing(): RpcError {
  return new RpcError('INVALID_ARGUMENT', 'session: first frame must be Hello with cluster_id');
}

export function helloLate(): RpcError {
  return new RpcError('INVALID_ARGUMENT', 'session: no Hello with cluster_id within 10 s');
}

/**
 * Features that change the peer's behaviour, used only after both sides named them in the handshake
 * (wire-additions §1). Unknown names are ignored, never refused: a newer operator may offer more.
 */
export const EXTENSIONS = ['reclaim-completion', 'node-identity'] as const;

export type Extension = (typeof EXTENSIONS)[number];

/** The offered extensions that this shard knows; in its order, each once, whatever was repeated. */
export function negotiate(offered: readonly string[]): readonly Extension[] {
  return EXTENSIONS.filter((extension) => offered.includes(extension));
}

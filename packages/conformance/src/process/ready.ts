// When a booted provider may be dialled: its gRPC health service says SERVING, or, where it
// offers none, its port accepts (conformance §7). A TCP accept alone is too early for a provider
// that still loads its state.

import { type Runtime, runWithDeadline } from '@bigfleet/base';
import {
  createClient,
  createGrpcChannel,
  Health,
  RpcError,
  type TlsMaterial,
} from '@bigfleet/wire';

const ASK_WITHIN_MS = 2_000;
const SERVING = 1;

export type Readiness =
  | { readonly kind: 'ready' }
  | { readonly kind: 'not-yet'; readonly why: string };

export interface ReadinessQuestion {
  readonly runtime: Runtime;
  readonly target: string;
  readonly tls?: TlsMaterial | undefined;
  readonly signal: AbortSignal;
}

/** Asks once, on a connection of its own: a failed one would back off before it tried again. */
export async function askReadiness(question: ReadinessQuestion): Promise<Readiness> {
  const { runtime, target, tls, signal } = question;
  const secured = tls && ({ tls, serverIdentity: { kind: 'host-name-only' } } as const);
  const channel = createGrpcChannel({ runtime, target, keepalive: 'provider', ...secured });
  try {
    const health = createClient(Health, channel);
    const { status } = await runWithDeadline(
      runtime,
      { ms: ASK_WITHIN_MS, parent: signal },
      (deadline) => health.check({ service: '' }, { signal: deadline }),
    );
    if (status === SERVING) return { kind: 'ready' };
    return { kind: 'not-yet', why: 'its health service does not say SERVING' };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof RpcError)) return { kind: 'not-yet', why: 'its health check hangs' };
    // It speaks gRPC and knows no health service: accepting is all that it can tell.
    if (error.code === 'UNIMPLEMENTED' || error.code === 'NOT_FOUND') return { kind: 'ready' };
    return { kind: 'not-yet', why: `${error.code}: ${error.message}` };
  } finally {
    channel.close();
  }
}

// When a booted provider may be dialled: its gRPC health service says SERVING, or, where it
// offers none, its port accepts (conformance §7). A TCP accept alone is too early for a provider
// that still loads its state.

import { runWithDeadline } from '@bigfleet/base';
import { createClient, Health, RpcError } from '@bigfleet/wire';
import { dialChannel, type DialOptions } from '../harness/dial.ts';

const ASK_WITHIN_MS = 2_000;
const SERVING = 1;

/**
 * Asks once, on a connection of its own: a failed one would back off before it tried again.
 * Undefined when it is ready, else why it is not.
 */
export async function readinessProblem(options: DialOptions): Promise<string | undefined> {
  const { runtime, signal } = options;
  const channel = dialChannel(options);
  try {
    const health = createClient(Health, channel);
    const { status } = await runWithDeadline(
      runtime,
      { ms: ASK_WITHIN_MS, parent: signal },
      (deadline) => health.check({ service: '' }, { signal: deadline }),
    );
    return status === SERVING ? undefined : 'its health service does not say SERVING';
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof RpcError)) return 'its health check hangs';
    // It speaks gRPC and knows no health service: accepting is all that it can tell.
    if (error.code === 'UNIMPLEMENTED' || error.code === 'NOT_FOUND') return undefined;
    return `${error.code}: ${error.message}`;
  } finally {
    channel.close();
  }
}

// Answers a bootstrap request at once, whatever else runs: it once queued behind slow writes, the
// shard's deadline passed, and machines were called Failed for a problem that was not theirs. The
// rendered blob is a join secret: it goes into the frame and nowhere else, and neither does the text
// of a failed rendering, which may quote it.

import { type BootstrapRequest, encodeInit, OperatorMessageSchema } from '@bigfleet/wire';
import type { BootstrapResult } from './cluster-port.ts';
import type { OperatorContext } from './context.ts';
import { rethrowBug } from './supervisor.ts';

/** Says that rendering failed, never why. */
type TellFailed = (requestId: string, what: string) => void;

/** The frame that answers `request`. */
export function answerBootstrap(
  request: BootstrapRequest,
  context: OperatorContext,
  tellFailed: TellFailed,
): Uint8Array {
  const { requestId } = request;
  const result = render(request, context, tellFailed);
  const answer =
    result.kind === 'unsatisfiable'
      ? { requestId, error: result.error }
      : {
          requestId,
          userData: result.userData.reveal(),
          ttlSeconds: BigInt(Math.max(0, Math.floor(result.ttlSeconds))),
        };
  return encodeInit(OperatorMessageSchema, {
    payload: { case: 'bootstrapResponse', value: answer },
  });
}

function render(
  request: BootstrapRequest,
  { clusterId, cluster }: OperatorContext,
  tellFailed: TellFailed,
): BootstrapResult {
  if (request.clusterId !== '' && request.clusterId !== clusterId) {
    tellFailed(request.requestId, 'asked for another cluster');
    return { kind: 'unsatisfiable', error: 'bootstrap request is for another cluster' };
  }
  try {
    return cluster.renderBootstrap(request);
  } catch (thrown) {
    rethrowBug(thrown);
    tellFailed(request.requestId, 'rendering failed');
    return { kind: 'unsatisfiable', error: 'bootstrap rendering failed' };
  }
}

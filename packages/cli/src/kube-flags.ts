// Flags of the processes inside a cluster, under one name and with one meaning.

import { decimal, text, toggle, wholeNumber } from '@bigfleet/process/flags';
import { logFlags } from './process-flags.ts';

const MAX_WRITES = 100_000;

export const clusterFlags = {
  kubeconfig: text(
    '',
    'access to the cluster; empty is $KUBECONFIG, then the ServiceAccount of the Pod',
    '<file>',
  ),
  qps: decimal(50, 'writes per second to the API server', { min: 1, max: MAX_WRITES }),
  burst: wholeNumber(100, 'writes at once after a quiet time', MAX_WRITES),
};

/** What every process takes (coordinator §12), in the words of one that serves no gRPC. */
export const kubeProcessFlags = {
  'require-tls': toggle(
    false,
    'refuse to start without TLS to every peer; also BIGFLEET_REQUIRE_TLS=1',
  ),
  ...logFlags,
  'trace-samples': text('', 'write raw durations to this file', '<file>'),
  'debug-endpoints': toggle(false, 'profiles on the HTTP port'),
  reflection: toggle(false, 'accepted everywhere; without effect, this process serves no gRPC'),
};

export function commaSeparated(given: string): ReadonlySet<string> {
  return new Set(
    given
      .split(',')
      .map((each) => each.trim())
      .filter((each) => each !== ''),
  );
}

/** Odd, and no reason to refuse: a chart may give every process the same flags. */
export function reflectionWarnings(isAsked: boolean): readonly string[] {
  return isAsked ? ['--reflection has no effect: this process serves no gRPC'] : [];
}

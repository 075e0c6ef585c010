// Who confirms that a node is Ready (providers A6). `auto` takes the source that the backend brings;
// `hook` trusts the join hook and is never chosen by itself; `none` exists for the fake alone.
// A real backend without an answer does not start: it would report Configured too early, and the
// shard would believe in capacity that no pod can use.

import { BigFleetError } from '@bigfleet/base';
import type { Logger } from '@bigfleet/telemetry';
import { type ReadinessChecker, trustJoinHook } from '../backend/readiness.ts';
import type { BackendKind, BackendSetup } from './definition.ts';
import type { ReadinessSourceName } from './flags/common-flags.ts';

export interface ReadinessChoice {
  readonly source: ReadinessSourceName;
  readonly kind: BackendKind;
  readonly setup: BackendSetup;
  readonly logger: Logger;
}

/** Undefined: the backend confirms it itself. Throws `flag_invalid` or `backend_not_configured`. */
export function chooseReadiness(choice: ReadinessChoice): ReadinessChecker | undefined {
  const { source, kind, setup, logger } = choice;
  const offered = setup.readiness ?? {};
  if (source === 'hook') {
    logger.warn('node readiness trusts the exit code of the join hook');
    return trustJoinHook;
  }
  if (source === 'none') {
    if (kind === 'fake') return trustJoinHook;
    throw new BigFleetError('flag_invalid', '--readiness-source=none is for the fake backend only');
  }
  if (source !== 'auto') {
    const chosen = offered[source];
    if (chosen !== undefined) return chosen;
    throw new BigFleetError('flag_invalid', `--readiness-source=${source}: not configured here`);
  }
  const only = offered['kubeconfig-dir'] ?? offered.agent;
  if (only !== undefined) return only;
  if (setup.backend.confirmNodeReady !== undefined) return undefined;
  if (kind === 'fake') return trustJoinHook;
  throw new BigFleetError(
    'backend_not_configured',
    'nothing confirms that nodes are Ready: configure a --readiness-source, because a node that ' +
      'counts before it is Ready is capacity that no pod can use',
  );
}

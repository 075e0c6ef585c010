// Which backend runs, decided before anything else and closed on doubt: the fake only when someone
// asked for it by name. An operator who forgot a flag once got a fleet of imaginary machines.

import { BigFleetError } from '@bigfleet/base';
import type { BackendKind, ProviderDefinition, Settings } from './definition.ts';
import { dynamicFlag } from './flags/provider-flags.ts';
import type { FlagTable } from '@bigfleet/process/flags';
import { namesOf } from './names.ts';

/** Throws `backend_not_configured` or `flag_invalid`. */
export function chooseBackend<Own extends FlagTable>(
  definition: ProviderDefinition<Own>,
  settings: Settings<Own>,
): BackendKind {
  const { backendFlag, realBackend } = namesOf(definition);
  const asked = dynamicFlag(settings.flags, backendFlag);
  const asksFake = settings.flags['use-fake-backend'];
  if (asksFake && asked === realBackend) {
    const text = `--use-fake-backend and --${backendFlag}=${realBackend} contradict each other`;
    throw new BigFleetError('flag_invalid', text);
  }
  if (asksFake || asked === 'fake') return 'fake';
  const missing = definition.missingConfiguration?.(settings);
  if (missing === undefined) {
    throw refused(`provider ${definition.name} has no real backend`);
  }
  if (missing.length > 0) {
    throw refused(`the ${realBackend} backend is not configured: missing ${missing.join(', ')}`);
  }
  return 'real';
}

function refused(problem: string): BigFleetError {
  const text = `${problem}. Only to simulate machines, start it with --use-fake-backend`;
  return new BigFleetError('backend_not_configured', text);
}

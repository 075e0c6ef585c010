// Every behaviour's check, by area. The catalogue owns titles and profiles; a check owns how its
// behaviour is judged. Sorted by id, which is the order of the catalogue and of a lane.

import type { Check } from '../harness/check.ts';
import { burstChecks } from './concurrency/bursts.ts';
import { raceChecks } from './concurrency/races.ts';
import { restartChecks } from './durability/restart.ts';
import { failureChecks } from './failure/failure.ts';
import { markChecks } from './fencing/marks.ts';
import { precedenceChecks } from './fencing/precedence.ts';
import { restChecks } from './lifecycle/rest.ts';
import { traceChecks } from './lifecycle/traces.ts';
import { deltaChecks } from './list/deltas.ts';
import { filterChecks } from './list/filters.ts';
import { pageChecks } from './list/pages.ts';
import { metadataChecks } from './metadata/metadata.ts';
import { codeChecks } from './property/codes.ts';
import { fencePropertyChecks } from './property/fence.ts';
import { lifecyclePropertyChecks } from './property/lifecycle.ts';
import { metadataPropertyChecks } from './property/metadata.ts';
import { latencyChecks } from './scale/latency.ts';
import { largeListChecks } from './scale/lists.ts';
import { soakChecks } from './scale/soak.ts';
import { shapeChecks } from './shape/sweeps.ts';
import { argumentChecks } from './transitions/arguments.ts';
import { transitionChecks } from './transitions/transitions.ts';

export { crossRestart } from './durability/stage.ts';

export const allChecks: readonly Check[] = [
  traceChecks,
  restChecks,
  transitionChecks,
  argumentChecks,
  markChecks,
  precedenceChecks,
  burstChecks,
  raceChecks,
  metadataChecks,
  failureChecks,
  shapeChecks,
  filterChecks,
  deltaChecks,
  pageChecks,
  restartChecks,
  largeListChecks,
  soakChecks,
  latencyChecks,
  fencePropertyChecks,
  metadataPropertyChecks,
  lifecyclePropertyChecks,
  codeChecks,
]
  .flat()
  .sort((a, b) => numberOf(a) - numberOf(b));

function numberOf({ id }: Check): number {
  return Number(id.slice(1));
}

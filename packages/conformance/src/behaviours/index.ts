// Every behaviour's check, by area. The catalogue owns titles and profiles; a check owns how its
// behaviour is judged. Sorted by id, which is the order of the catalogue and of a lane.

import type { Check } from '../harness/check.ts';
import { burstChecks } from './concurrency/bursts.ts';
import { raceChecks } from './concurrency/races.ts';
import { interruptedChecks } from './durability/interrupted.ts';
import { restartChecks } from './durability/restart.ts';
import { errorChecks } from './failure/errors.ts';
import { terminalChecks } from './failure/terminal.ts';
import { timeoutChecks } from './failure/timeouts.ts';
import { isolationChecks } from './fencing/isolation.ts';
import { orderChecks } from './fencing/order.ts';
import { precedenceChecks } from './fencing/precedence.ts';
import { sessionChecks } from './fencing/sessions.ts';
import { restChecks } from './lifecycle/rest.ts';
import { roundChecks } from './lifecycle/rounds.ts';
import { traceChecks } from './lifecycle/traces.ts';
import { deltaChecks } from './list/deltas.ts';
import { filterChecks } from './list/filters.ts';
import { pageChecks } from './list/pages.ts';
import { bindingChecks } from './metadata/binding.ts';
import { echoChecks } from './metadata/echo.ts';
import { codeChecks } from './property/codes.ts';
import { fencePropertyChecks } from './property/fence.ts';
import { lifecyclePropertyChecks } from './property/lifecycle.ts';
import { metadataPropertyChecks } from './property/metadata.ts';
import { latencyChecks } from './scale/latency.ts';
import { largeListChecks } from './scale/lists.ts';
import { soakChecks } from './scale/soak.ts';
import { hostChecks } from './shape/host.ts';
import { sweepChecks } from './shape/sweeps.ts';
import { argumentChecks } from './transitions/arguments.ts';
import { int64Checks } from './fencing/int64.ts';
import { positionChecks } from './transitions/position.ts';
import { replayChecks } from './transitions/replay.ts';
import { unknownChecks } from './transitions/unknown.ts';

export { crossRestart } from './durability/stage.ts';

export const allChecks: readonly Check[] = [
  roundChecks,
  traceChecks,
  restChecks,
  positionChecks,
  replayChecks,
  unknownChecks,
  argumentChecks,
  int64Checks,
  orderChecks,
  precedenceChecks,
  isolationChecks,
  sessionChecks,
  burstChecks,
  raceChecks,
  echoChecks,
  bindingChecks,
  errorChecks,
  timeoutChecks,
  terminalChecks,
  sweepChecks,
  hostChecks,
  filterChecks,
  deltaChecks,
  pageChecks,
  restartChecks,
  interruptedChecks,
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

// The oracle: one cycle of engine §3 over plain objects, naive on purpose. Every optimisation of the
// engine is accepted against it, so it follows the sentences of the specification one by one,
// caches nothing and shares nothing with the engine but the model. Cost is quadratic and worse;
// it is meant for fleets of some dozens of machines.

import type { CycleInput, CycleOutput } from '../model/cycle.ts';
import { type Action, ActionKind } from '../model/action.ts';
import { State } from '../model/state.ts';
import { acquireAll, acquisitionOrder } from './acquire.ts';
import { creditAll } from './credit.ts';
import { type Ledger, openLedger } from './ledger.ts';
import { normalizeDemand } from './normalize.ts';
import { nextParkingAges } from './parking.ts';
import { preemptAll } from './phase2.ts';
import { reclaimExcess, releaseIdle } from './phase3.ts';
import { verdictOf } from './reasons.ts';
import { nextShortfalls } from './shortfalls.ts';

export function oracleCycle(input: CycleInput): CycleOutput {
  const ledger = openLedger(input, normalizeDemand(input));
  creditAll(ledger);
  acquireAll(ledger);
  const acquisitions = acquisitionActions(ledger);
  const preemptions = preemptAll(ledger);
  const releases = [...reclaimExcess(ledger), ...releaseIdle(ledger)];
  const verdicts = ledger.entries.map((entry) => verdictOf(ledger, entry));
  return {
    actions: firstPerMachine([...acquisitions, ...preemptions, ...releases]),
    verdicts,
    claims: ledger.claims,
    memory: {
      parkingAges: nextParkingAges(ledger),
      shortfalls: nextShortfalls(ledger, verdicts),
    },
  };
}

/** In the order in which the machines were taken. */
function acquisitionActions(ledger: Ledger): Action[] {
  return acquisitionOrder(ledger).flatMap(({ need, acquired }) =>
    acquired.map((machine): Action => {
      const isIdle = machine.state === State.Idle;
      return {
        kind: isIdle ? ActionKind.Bootstrap : ActionKind.Provision,
        machineId: machine.id,
        cluster: need.cluster,
        fingerprint: need.profile.fingerprint,
        group: need.group,
        graceSeconds: 0,
        preemptorPriority: 0,
        reason: isIdle ? 'phase1.idle' : 'phase1.speculative',
      };
    }),
  );
}

/** Engine §3 step 9: at most one action per machine, so Preempt beats Reclaim. */
function firstPerMachine(actions: readonly Action[]): Action[] {
  const seen = new Set<string>();
  return actions.filter(({ machineId }) => {
    if (seen.has(machineId)) return false;
    seen.add(machineId);
    return true;
  });
}

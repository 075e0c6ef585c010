// The words of the CRD as the numbers of the wire: requirement operators and spread terms. Same is
// not among the words: it exists on the wire only and is derived from co-location (co-location.ts).
// Soft spread terms are dropped: the engine enforces only DoNotSchedule, and carrying the others
// would split demand that is one.

import {
  type PenaltyBucket,
  type Result,
  ZERO_BUCKET,
  bucketOfDollars,
  err,
  ok,
  parseQuantity,
} from '@bigfleet/base';
import {
  DO_NOT_SCHEDULE,
  Operator,
  type OperatorCode,
  type Requirement,
  type Spread,
} from '@bigfleet/engine';
import type { NodeRequirement, RawQuantity, TopologySpreadTerm } from '@bigfleet/kube';
import { type Refusal, shown } from './capacity-request.ts';

const OPERATORS: ReadonlyMap<string, OperatorCode> = new Map([
  ['In', Operator.In],
  ['NotIn', Operator.NotIn],
  ['Exists', Operator.Exists],
  ['DoesNotExist', Operator.DoesNotExist],
]);

export function readRequirements(
  terms: readonly NodeRequirement[],
): Result<Requirement[], Refusal> {
  const requirements: Requirement[] = [];
  for (const { key, operator, values = [] } of terms) {
    const code = OPERATORS.get(operator);
    if (code === undefined) {
      const problem = `requirements[${shown(key)}] operator ${shown(operator)} is not supported`;
      return err({ reason: 'unsupported_operator', problem });
    }
    requirements.push({ key, operator: code, values });
  }
  return ok(requirements);
}

export function readSpread(terms: readonly TopologySpreadTerm[]): Result<Spread[], Refusal> {
  const spread: Spread[] = [];
  for (const { topologyKey, maxSkew, whenUnsatisfiable } of terms) {
    if (whenUnsatisfiable === 'ScheduleAnyway') continue;
    const term = `topologySpread[${shown(topologyKey)}]`;
    if (whenUnsatisfiable !== 'DoNotSchedule') {
      const problem = `${term} whenUnsatisfiable ${shown(whenUnsatisfiable)} is not supported`;
      return err({ reason: 'unsupported_operator', problem });
    }
    if (!isInt32(maxSkew)) {
      return err({
        reason: 'bad_quantity',
        problem: `${term} maxSkew ${shown(maxSkew)} is no int32`,
      });
    }
    spread.push({ topologyKey, maxSkew, whenUnsatisfiable: DO_NOT_SCHEDULE });
  }
  return ok(spread);
}

/** The wire's integers. A value outside would fail the encoding of the whole roll-up. */
export function isInt32(value: number): boolean {
  return Number.isInteger(value) && value === (value | 0);
}

const NANOS_PER_DOLLAR = 1e9;

/**
 * Raw dollars become a bucket here, exactly once in the whole system (kubernetes §0 rule 7). Absent
 * is Zero, not "unspecified": otherwise an absent penalty and an explicit 0 would be two needs.
 */
export function bucketOfPenalty(
  field: 'interruptionPenalty' | 'reclamationPenalty',
  raw: RawQuantity | undefined,
): Result<PenaltyBucket, Refusal> {
  if (raw === undefined) return ok(ZERO_BUCKET);
  const parsed = parseQuantity(String(raw));
  if (!parsed.ok) {
    return err({ reason: 'bad_penalty', problem: `${field} ${shown(raw)} is no quantity` });
  }
  // Through a float, so that 500m stays half a dollar. Up to the last bound every nano is exact
  // or rounds to the same side of the bound; beyond it everything is Pinned.
  return ok(bucketOfDollars(Number(parsed.value.nanos) / NANOS_PER_DOLLAR));
}

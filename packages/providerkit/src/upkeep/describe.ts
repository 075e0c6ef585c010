// One look at the substrate, validated and bounded in time. Either the whole inventory or an error:
// absence is read as loss, so nothing is ever concluded from a part.

import { BigFleetError, describeThrown, runWithDeadline } from '@bigfleet/base';
import type { Instance } from '../backend/backend.ts';
import { instanceProblem } from '../backend/instance-rules.ts';
import type { Kit } from '../work/kit.ts';

/** Validating is cheap, but not half a million times in one go. */
const INSTANCES_PER_TURN = 5_000;

export interface InvalidInstance {
  readonly id: string;
  readonly problem: string;
}

export interface Described {
  readonly startedMs: number;
  readonly endedMs: number;
  /** The last revision assigned when it began: later changes are not in it. */
  readonly startedRevision: number;
  /** Valid, by id. */
  readonly instances: ReadonlyMap<string, Instance>;
  readonly invalid: readonly InvalidInstance[];
  /** Substrate ids of every listed host, those of invalid instances included: they exist. */
  readonly hostRefs: ReadonlySet<string>;
}

/** Rejects with `describe_failed`, or with the reason of the provider's end. */
export async function describe(kit: Kit): Promise<Described> {
  const { runtime, options, backend, health, lifetime } = kit;
  const startedMs = runtime.clock.monotonicMs();
  const startedRevision = kit.fleet.revisions.last;
  const deadline = { ms: options.reconcileTimeoutMs, parent: lifetime };
  try {
    const listed = await runWithDeadline(runtime, deadline, (signal) =>
      backend.describe({ signal }),
    );
    const endedMs = runtime.clock.monotonicMs();
    const validated = await validate(kit, listed);
    health.succeeded();
    return { startedMs, endedMs, startedRevision, ...validated };
  } catch (cause) {
    if (!lifetime.aborted) health.failed(cause);
    const message = `the backend could not describe its inventory: ${describeThrown(cause)}`;
    throw new BigFleetError('describe_failed', message, { cause });
  }
}

/** A backend that returns no list at all is caught here like one that rejects. */
async function validate(
  kit: Kit,
  listed: readonly Instance[],
): Promise<Pick<Described, 'instances' | 'invalid' | 'hostRefs'>> {
  const instances = new Map<string, Instance>();
  const invalid: InvalidInstance[] = [];
  const hostRefs = new Set<string>();
  let sinceTurn = 0;
  for (const instance of listed) {
    const { id } = instance;
    if (instance.host !== undefined) hostRefs.add(instance.host.ref);
    const problem = instances.has(id)
      ? 'the id is listed twice'
      : instanceProblem(instance, kit.options.requireZone);
    if (problem === undefined) instances.set(id, instance);
    else invalid.push({ id, problem });
    sinceTurn++;
    if (sinceTurn === INSTANCES_PER_TURN) {
      sinceTurn = 0;
      await kit.runtime.timers.turn();
    }
  }
  return { instances, invalid, hostRefs };
}

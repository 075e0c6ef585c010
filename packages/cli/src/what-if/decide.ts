// What would have been decided, cycle by cycle: each starts from what really happened, so the answer is
// what differs in the decisions, not what the fleet would look like after a week of them.

import {
  type Change,
  changedMachine,
  changedPolicy,
  createEngineLike,
  DEFAULT_RELEASE_POLICY,
  describeChange,
  diffRuns,
  type EngineBuild,
  type Machine,
  type ReleasePolicy,
} from '@bigfleet/engine';
import type { SegmentFiles } from '@bigfleet/shard';
import type { ComparedTrace } from '../records/directory-command.ts';

/** Only what an engine is told about its inputs can change without a model of what follows. */
const KINDS: ReadonlySet<Change['kind']> = new Set(['price', 'interruption', 'hold']);

export function decideProblem(changes: readonly Change[]): string | undefined {
  const other = changes.find(({ kind }) => !KINDS.has(kind));
  if (other === undefined) return undefined;
  return `--set=${describeChange(other)} needs --mode=loop; --mode=decide takes price, interruption and holds`;
}

export async function decideAgain(
  files: SegmentFiles,
  names: readonly string[],
  changes: readonly Change[],
): Promise<readonly ComparedTrace[]> {
  const compared: ComparedTrace[] = [];
  for (const trace of names) {
    const bytes = await files.read(trace);
    compared.push({ trace, report: diffRuns(bytes, createEngineLike, changedBuild(changes)) });
  }
  return compared;
}

/** This build's engine, told the changes instead of what was recorded; the rest passes through. */
function changedBuild(changes: readonly Change[]): EngineBuild {
  return (options) => {
    const engine = createEngineLike(options);
    const put = engine.put.bind(engine);
    const setReleasePolicy = engine.setReleasePolicy.bind(engine);
    const changed = Object.assign(engine, {
      put: (machine: Machine, nowMs: number) => put(changedMachine(changes, machine), nowMs),
      setReleasePolicy: (policy: ReleasePolicy) => setReleasePolicy(changedPolicy(changes, policy)),
    });
    // A trace names the policy only when it differs from the default.
    changed.setReleasePolicy(DEFAULT_RELEASE_POLICY);
    return changed;
  };
}

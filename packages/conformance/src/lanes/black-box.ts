// The lanes that judge the provider under test through the six RPCs alone: the baseline and the
// 69 behaviours of phase 2. Both use one endpoint, as they do against a foreign target: 256 slots
// must do for both.

import type { LaneName } from '../run/lane-names.ts';
import type { LaneReport } from '../run/result.ts';
import type { LaneEnvironment } from './environment.ts';
import type { Opened } from './open.ts';
import { probe, type RunnableCheck } from './run-check.ts';
import { checksOf, type LanePlan, runChecks } from './run-checks.ts';

export async function runBlackBox(
  environment: LaneEnvironment,
  lanes: readonly ('baseline' | 'extension')[],
  open: () => Promise<Opened>,
): Promise<readonly LaneReport[]> {
  if (lanes.length === 0) return [];
  const opened = await open();
  if (!opened.ok) {
    return lanes.map((lane) => ({ kind: 'broken', lane, problem: opened.problem }));
  }
  const { judged } = opened;
  try {
    const capabilities = await probe(environment, judged);
    const reports: LaneReport[] = [];
    for (const lane of lanes) {
      const plan: LanePlan = {
        lane,
        judged: judged.description,
        checks: planned(environment, lane),
      };
      reports.push(await runChecks(environment, { ...judged, capabilities }, plan));
    }
    return reports;
  } finally {
    await judged.close();
  }
}

function planned(environment: LaneEnvironment, lane: LaneName): readonly RunnableCheck[] {
  if (lane !== 'baseline') return checksOf(environment, lane);
  return environment.baseline.map(({ name, run }) => ({ name: `Test${name}`, run }));
}

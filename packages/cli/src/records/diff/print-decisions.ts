// What this build decides over the traces of a directory, cycle by cycle, for another build to
// compare with. The engine is run by the replay itself; only what it decided is looked at.

import {
  createEngineLike,
  type EngineBuild,
  type EngineLike,
  replay,
  type ReplayMode,
} from '@bigfleet/engine';
import type { SegmentFiles } from '@bigfleet/shard';
import { DECISIONS_VERSION, type DecisionLine, encodeDecisionLine } from './decision-line.ts';

type Emit = (line: DecisionLine) => void;

export async function printDecisions(
  files: SegmentFiles,
  mode: ReplayMode,
  print: (text: string) => void,
): Promise<void> {
  const emit: Emit = (line) => print(encodeDecisionLine(line));
  emit({ kind: 'decisions', version: DECISIONS_VERSION });
  for (const { name, kind } of await files.list()) {
    if (kind !== 'trace') continue;
    emit({ kind: 'trace', name });
    const { failure } = replay(await files.read(name), { mode, build: watched(emit) });
    if (failure === undefined) continue;
    const { entry, offset, problem } = failure;
    emit({ kind: 'failed', problem: `${failure.kind} at ${entry}, byte ${offset}: ${problem}` });
  }
  emit({ kind: 'end' });
}

/** This build's engine; what it decides is also told. */
function watched(emit: Emit): EngineBuild {
  return (options) => {
    const engine = createEngineLike(options);
    const cycle = engine.cycle.bind(engine);
    const restoreMemory = engine.restoreMemory.bind(engine);
    const spied: Pick<EngineLike, 'cycle' | 'restoreMemory'> = {
      cycle: (cycleOptions) => {
        cycle(cycleOptions);
        emit(cycleLine(engine));
      },
      restoreMemory: (memory) => {
        restoreMemory(memory);
        const [machineCount, rowCount] = [engine.machineCount(), engine.rowCount()];
        emit({ kind: 'snapshot', machineCount, rowCount });
      },
    };
    return Object.assign(engine, spied);
  };
}

function cycleLine(engine: EngineLike): DecisionLine {
  const actions = engine.actions().map((action) => {
    const pricePerHour = engine.pricePerHour(action.machineId);
    return { ...action, pricePerHour: Number.isFinite(pricePerHour) ? pricePerHour : null };
  });
  const shortfallAges = [...engine.shortfalls().values()].map(({ ageCycles }) => ageCycles);
  return { kind: 'cycle', hash: engine.actionHash(), actions, shortfallAges };
}

// A cycle as the behaviour tests see it: the oracle and the engine both pass for one.

import type { CycleInput, CycleOutput } from '../../model/cycle.ts';

export type RunCycle = (input: CycleInput) => CycleOutput;

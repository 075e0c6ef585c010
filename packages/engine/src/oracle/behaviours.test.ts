// Proves that the oracle shows every behaviour of engine §12 that a single cycle can show.

import { describeBehaviours } from '../testing/behaviours/index.ts';
import { oracleCycle } from './cycle.ts';

describeBehaviours(oracleCycle);

// The process of the operators and pod controllers of all clusters: `node operators.ts --cluster=<json> …`.
// Wiring only.

import { realRuntime } from '@bigfleet/base/real';
import { runOperators } from './operators/run-operators.ts';

process.exitCode = await runOperators(realRuntime(), process.argv.slice(2));

// Entry point of `make conformance-mutants`: wiring only. Refuses another Node before anything that
// needs this one is loaded, hence the import below.

import { requireNode24 } from '@bigfleet/process/node-version';

requireNode24('bfconformance:', '');
const { mutantsFromProcess } = await import('./process.ts');
process.exitCode = await mutantsFromProcess();

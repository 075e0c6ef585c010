// Imported between the mutated module and the tests of a suite: says that the module loads.

import { reportLine } from './child-report.ts';

process.stdout.write(reportLine({ kind: 'loaded' }));

// `make try-scale` and its like: wiring only. Refuses another Node before anything that needs this one is
// loaded, hence the import below.

import { requireNode24 } from '@bigfleet/process/node-version';

requireNode24('make try-…', ': start it with `make try-scale`.');
const { main } = await import('./try/main.ts');
process.exitCode = await main(process.argv.slice(2), process.env);

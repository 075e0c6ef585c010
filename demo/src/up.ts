// What `make up` starts: wiring only. Refuses another Node before anything that needs this one
// is loaded, hence the import below.

import { requireNode24 } from '@bigfleet/process/node-version';

requireNode24('make up', ': start it with `make up`.');
const { main } = await import('./main.ts');
process.exitCode = await main(process.argv.slice(2), process.env);

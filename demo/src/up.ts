// What `make up` starts: wiring only. Refuses another Node before anything that needs this one
// is loaded, hence the import below.

import { enableCompileCache } from 'node:module';
import { requireNode24 } from '@bigfleet/process/node-version';
import { COMPILE_CACHE } from './compile-cache.ts';

requireNode24('make up', ': start it with `make up`.');
enableCompileCache(COMPILE_CACHE);
const { main } = await import('./main.ts');
process.exitCode = await main(process.argv.slice(2), process.env);

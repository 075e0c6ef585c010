// Preloaded into a process (`node --import`): prints every module that the process loaded, when it ends.

import { writeSync } from 'node:fs';
import { registerHooks } from 'node:module';

const loaded: string[] = [];
registerHooks({
  load: (url, context, nextLoad) => {
    loaded.push(url);
    return nextLoad(url, context);
  },
});
process.on('exit', () => {
  writeSync(1, `${loaded.join('\n')}\n`);
});

// Another build of bigfleet for the test of diff: this one with one line of the engine changed when it
// is loaded (idle machines are held for 30 s instead of 10 minutes). Run as a process.

import { registerHooks } from 'node:module';

const FILE = '/engine/src/model/capacity-type.ts';
const OLD = '? policy.onDemandHoldMs';
const NEW = '? 30_000';

registerHooks({
  load: (url, context, next) => {
    const loaded = next(url, context);
    if (!url.endsWith(FILE)) return loaded;
    const source = Buffer.from(loaded.source as Uint8Array).toString('utf8');
    if (!source.includes(OLD)) throw new Error(`${FILE} no longer says ${OLD}`);
    return { ...loaded, source: source.replace(OLD, NEW) };
  },
});

await import('../main.ts');

// Where Node keeps what it compiled of our sources: most of the time until the demo is ready would be spent
// on compiling the same files once per process. Below the checkout, where `make clean` takes it away.

import { fileURLToPath } from 'node:url';

export const COMPILE_CACHE: string = fileURLToPath(
  new URL('../../.cache/compiled', import.meta.url),
);

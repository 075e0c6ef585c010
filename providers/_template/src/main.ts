// The provider's process. Flags, TLS, health, metrics, the store and the whole contract are the
// kit's; `--help` lists what it takes.

import { realRuntime } from '@bigfleet/base/real';
import { runProvider } from '@bigfleet/providerkit';
import { provider } from './provider.ts';

process.exitCode = await runProvider({
  ...provider,
  runtime: realRuntime(),
  argv: process.argv.slice(2),
  env: process.env,
});

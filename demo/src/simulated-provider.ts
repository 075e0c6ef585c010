// The simulated provider's process: `node simulated-provider.ts --use-fake-backend`. Wiring only.

import { realRuntime } from '@bigfleet/base/real';
import { runProvider } from '@bigfleet/providerkit';
import { definition } from './provider/definition.ts';

process.exitCode = await runProvider({
  ...definition,
  runtime: realRuntime(),
  argv: process.argv.slice(2),
  env: process.env,
});

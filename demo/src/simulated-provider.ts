// The process of a simulated provider: `node simulated-provider.ts sim-north --use-fake-backend`. Wiring
// only.

import { BigFleetError } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';
import { runProvider } from '@bigfleet/providerkit';
import { PROVIDERS } from './places.ts';
import { definitionOf } from './provider/definition.ts';

const [given = '', ...argv] = process.argv.slice(2);
const name = PROVIDERS.find((candidate) => candidate === given);
if (name === undefined) {
  throw new BigFleetError('flag_invalid', `provider ${given}: one of ${PROVIDERS.join(', ')}`);
}
process.exitCode = await runProvider({
  ...definitionOf(name),
  runtime: realRuntime(),
  argv,
  env: process.env,
});

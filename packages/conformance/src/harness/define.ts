// How a behaviour's check is written down: id, where the contract says so, and the function. The
// reference is added to every finding, so that a provider's author reads the rule beside the
// fault. Skips and cancellations pass through untouched.

import { type Check, CheckFailed } from './check.ts';
import type { CheckContext } from './context.ts';

/** `rule` as in `provider-contract §4.1` or `provider-contract §6, Order`. */
export function defineCheck(
  id: string,
  rule: string,
  run: (context: CheckContext) => Promise<void>,
): Check {
  return {
    id,
    async run(context) {
      try {
        await run(context);
      } catch (error) {
        if (!(error instanceof CheckFailed)) throw error;
        throw new CheckFailed(`${error.message} (${rule})`, { cause: error });
      }
    },
  };
}

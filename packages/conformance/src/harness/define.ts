// How a behaviour's check is written down: id, the heading of docs/provider-author-guide.md that
// states the rule, and the function. The heading is added to every finding, so that a provider's
// author, who has the guide and not the specification, finds the rule beside the fault. Skips and
// cancellations pass through untouched.

import { type Check, CheckFailed } from './check.ts';
import type { CheckContext } from './context.ts';

export const guideHeadings = [
  'Six calls',
  'The order of checks',
  'Codes by state',
  'Retries',
  'The fence',
  'Binding and metadata',
  'The shape of a machine',
  'Listing',
  'Speed',
  'Failure',
  'Configured means Ready',
  'Restarts',
] as const;

export type GuideHeading = (typeof guideHeadings)[number];

export function defineCheck(
  id: string,
  rule: GuideHeading,
  run: (context: CheckContext) => Promise<void>,
): Check {
  return {
    id,
    async run(context) {
      try {
        await run(context);
      } catch (error) {
        if (!(error instanceof CheckFailed)) throw error;
        throw new CheckFailed(`${error.message} (author guide, ${rule})`, { cause: error });
      }
    },
  };
}

// badge.json: the endpoint format of shields (conformance §7).

import type { Judgement, Verdict } from '../verdict/judge.ts';
import { countStatus } from './totals.ts';

export interface Badge {
  readonly schemaVersion: 1;
  readonly label: string;
  readonly message: string;
  readonly color: string;
}

const colors: Readonly<Record<Verdict, string>> = {
  CERTIFIED: 'brightgreen',
  FAILED: 'red',
  INCOMPLETE: 'yellow',
};

export function badgeOf(judgement: Judgement): Badge {
  const passed = countStatus(judgement, 'passed');
  const judged = passed + countStatus(judgement, 'failed') + countStatus(judgement, 'skipped');
  return {
    schemaVersion: 1,
    label: 'bigfleet conformance',
    message: `${judgement.verdict} (${passed}/${judged})`,
    color: colors[judgement.verdict],
  };
}

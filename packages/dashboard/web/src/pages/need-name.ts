// The name of a need whose row is not at hand: its fingerprint, read by the engine's own rule.

import { Operator, parseFingerprint } from '@bigfleet/engine';
import { formatCount } from '../lib/format.ts';
import { requirementsText } from '../lib/needs.ts';

const OPERATORS: ReadonlyMap<number, string> = new Map(
  Object.entries(Operator).map(([name, code]) => [code, name]),
);

/** `priority 1,000, c6i.4xlarge; zone-a or zone-b`; text that is no fingerprint stays as it is. */
export function needName(fingerprint: string): string {
  const profile = parseFingerprint(fingerprint);
  if (profile === undefined) return fingerprint;
  const where = requirementsText(
    profile.requirements.map(({ key, operator, values }) => {
      const list = values.length === 0 ? '' : ` [${values.join(', ')}]`;
      return `${key} ${OPERATORS.get(operator) ?? operator}${list}`;
    }),
  );
  return `priority ${formatCount(profile.priority)}${where === '' ? '' : `, ${where}`}`;
}

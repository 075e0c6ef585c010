// Label selectors as Kubernetes users write them: `zone=a`, `pool!=spot`, `zone in (a,b)`,
// `arch notin (arm64)`, `gpu`, `!gpu`, joined by commas. Read here, matched by the shard.

import { err, ok, type Result } from '@bigfleet/base';
import { type NodeSelectorRequirement, Operator } from '@bigfleet/wire';

export type SelectorRequirement = Pick<NodeSelectorRequirement, 'key' | 'operator' | 'values'>;

const KEY = '[A-Za-z0-9](?:[A-Za-z0-9._/-]*[A-Za-z0-9])?';
const TERM = new RegExp(
  [
    `^(?<absent>!)\\s*(?<absentKey>${KEY})$`,
    `^(?<setKey>${KEY})\\s+(?<set>in|notin)\\s*\\((?<values>[^()]*)\\)$`,
    `^(?<key>${KEY})\\s*(?<operator>==|=|!=)\\s*(?<value>[^\\s!=(),]*)$`,
    `^(?<presentKey>${KEY})$`,
  ].join('|'),
);
const MAX_TERMS = 64;
const EXAMPLE = 'write for example zone=a,pool!=spot,arch in (amd64,arm64),!gpu';

export function parseSelector(text: string): Result<readonly SelectorRequirement[], string> {
  if (text.trim() === '') return ok([]);
  const terms = splitTerms(text);
  if (terms.length > MAX_TERMS) return err(`more than ${MAX_TERMS} terms`);
  const requirements: SelectorRequirement[] = [];
  for (const term of terms) {
    const requirement = parseTerm(term.trim());
    if (requirement === undefined) return err(`${JSON.stringify(term.trim())}: ${EXAMPLE}`);
    requirements.push(requirement);
  }
  return ok(requirements);
}

/** At the commas that are not within parentheses. */
function splitTerms(text: string): string[] {
  return text.split(/,(?![^()]*\))/);
}

function parseTerm(term: string): SelectorRequirement | undefined {
  const groups = TERM.exec(term)?.groups;
  if (groups === undefined) return undefined;
  const { absentKey, setKey, set, values = '', key, operator, value = '', presentKey } = groups;
  if (absentKey !== undefined) {
    return { key: absentKey, operator: Operator.DOES_NOT_EXIST, values: [] };
  }
  if (presentKey !== undefined) return { key: presentKey, operator: Operator.EXISTS, values: [] };
  if (setKey !== undefined) {
    const list = values.split(',').map((each) => each.trim());
    if (list.includes('')) return undefined;
    return { key: setKey, operator: set === 'in' ? Operator.IN : Operator.NOT_IN, values: list };
  }
  if (key === undefined) return undefined;
  return { key, operator: operator === '!=' ? Operator.NOT_IN : Operator.IN, values: [value] };
}

// Every source file can be read and every import leads somewhere known. The other walls stand
// on this one: an import that resolves to nothing would be an edge that no wall sees.

import type { Finding, Rule } from '../rule.ts';
import { isSource, type TreeFile } from '../tree.ts';

export const resolved: Rule = {
  id: 'resolved',
  forbids: 'a file that cannot be scanned; an import that is computed or leads nowhere',
  instead: 'import an existing file (with its extension) or an exported path, as one literal',
  scope: isSource,
  inspect: inspectResolved,
};

/**
 * Nothing that ships imports these (walls "packages-inward", "layers"), so a computed import
 * there opens no wall: bench loads its shapes by name.
 */
const MAY_COMPUTE = /^(?:bench|test|tools)\//;

function inspectResolved(file: TreeFile): Finding[] {
  const source = file.source;
  if (source === undefined) return [{ line: 1, message: 'was not scanned' }];
  if (source.problem !== undefined) {
    const { line, message } = source.problem;
    return [{ line, message: `cannot be scanned: ${message}` }];
  }
  return source.edges.flatMap(({ ref, to }) =>
    to.kind === 'unresolved' && !(ref.specifier === undefined && MAY_COMPUTE.test(file.path))
      ? [{ line: ref.line, message: `${ref.kind} import of ${ref.specifier ?? '?'}: ${to.why}` }]
      : [],
  );
}

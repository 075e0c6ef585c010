// The table of docs/internals/conformance-mutants.md, from the registry alone: the run proves it.

import type { MutantGroup } from '../set/index.ts';
import type { Mutant } from '../mutant.ts';
import { idRanges } from './id-ranges.ts';

const intro = `# Mutants of the conformance suite

<!-- Generated: node packages/conformance/src/testing/mutants/main.ts --markdown -->

*Can the suite fail?* Each provider below is the kit's right one with one thing wrong in it: in its
service, its store, its substrate or its settings. \`make conformance-mutants\` runs each against the
behaviours that are named beside it and against the baseline, under virtual time, and prints the
matrix; \`packages/conformance/src/testing/mutants/matrix.long.ts\` (in \`make test-long\`) runs each against
all 93, where exactly the named ones must fail, and proves that the right provider fails none.`;

const closing = `## Adding one

A mutant is an entry of \`packages/conformance/src/testing/mutants/set\`. Write it with an empty \`caughtBy\`,
run \`node packages/conformance/src/testing/mutants/main.ts --all --only <name>\`, and ask of every id that it
prints whether it should be there. No id at all is a hole in the suite: strengthen a behaviour, never
drop the mutant. Then write this page again with \`--markdown\`.`;

export function markdown(groups: readonly MutantGroup[]): string {
  const all = groups.flatMap(({ mutants }) => mutants);
  const seenCount = all.filter(({ isSeenByBaseline }) => isSeenByBaseline).length;
  const counts =
    `${all.length} mutants. The baseline alone notices ${seenCount} of them ` +
    '(marked ●); the rest is what the behaviours are for.';
  return `${[intro, counts, ...groups.map(section), closing].join('\n\n')}\n`;
}

function section({ title, mutants }: MutantGroup): string {
  const head = '| Mutant | What it does | How it comes about | Caught by | Baseline |';
  return [`## ${title}`, '', head, '|---|---|---|---|---|', ...mutants.map(row)].join('\n');
}

function row({ name, wrong, story, caughtBy, isSeenByBaseline }: Mutant): string {
  const cells = [`\`${name}\``, wrong, story, idRanges(caughtBy), isSeenByBaseline ? '●' : ''];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

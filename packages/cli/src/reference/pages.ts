// Which reference pages there are.

import { VERBS } from '../ctl/verbs/index.ts';
import { DOCUMENTED_COMMANDS } from '../documented-commands.ts';
import { bigfleetPage, ctlPage } from './render.ts';

/** Path in the repository → text. */
export function referencePages(): ReadonlyMap<string, string> {
  return new Map([
    ['docs/cli/bigfleetctl.md', ctlPage(VERBS)],
    ['docs/cli/bigfleet.md', bigfleetPage(DOCUMENTED_COMMANDS)],
  ]);
}

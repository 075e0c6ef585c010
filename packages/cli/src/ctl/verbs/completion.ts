// `completion <shell>`: a script for the shell, made from the table of verbs.

import { bashCompletion } from '../completion/bash.ts';
import { fishCompletion } from '../completion/fish.ts';
import { type CompletionModel, completionModel } from '../completion/model.ts';
import { zshCompletion } from '../completion/zsh.ts';
import { CTL_EXIT } from '../exit-code.ts';
import { defineVerb } from '../frame/define-verb.ts';
import type { Verb } from '../frame/verb.ts';

const SHELLS: Readonly<Record<string, (model: CompletionModel) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
};

/** The table is an argument: it holds this verb too. */
export function createCompletionVerb(verbs: () => readonly Verb[]): Verb {
  return defineVerb({
    name: 'completion',
    group: 'This client',
    summary: 'completion script for bash, zsh or fish',
    details: [
      'bash: source <(bigfleetctl completion bash)',
      'zsh:  source <(bigfleetctl completion zsh), after compinit',
      'fish: bigfleetctl completion fish | source',
    ],
    words: [{ name: 'shell', choices: Object.keys(SHELLS) }],
    flags: {},
    examples: ['completion bash > ~/.local/share/bash-completion/completions/bigfleetctl'],
    does: {
      kind: 'run',
      needsNoFleet: true,
      run: async ({ words: [shell = ''], context: { port } }) => {
        port.writeOutput(SHELLS[shell]?.(completionModel(verbs())) ?? '');
        return CTL_EXIT.ok;
      },
    },
  });
}

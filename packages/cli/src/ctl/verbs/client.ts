// Verbs about this client: completion scripts made from the table of verbs, and versions.

import { toggle } from '@bigfleet/process/flags';
import { BUILD_VERSION } from '../../command.ts';
import { bashCompletion } from '../completion/bash.ts';
import { fishCompletion } from '../completion/fish.ts';
import { type CompletionModel, completionModel } from '../completion/model.ts';
import { zshCompletion } from '../completion/zsh.ts';
import { describeFailure } from '../connect/failure.ts';
import { defineVerb } from '../frame/define-verb.ts';
import type { Verb } from '../frame/verb.ts';
import { CTL_EXIT, textReport } from '../output/report.ts';

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
    needsNoFleet: true,
    run: async ({ words: [shell = ''], context: { port } }) => {
      port.writeOutput(SHELLS[shell]?.(completionModel(verbs())) ?? '');
      return CTL_EXIT.ok;
    },
  });
}

export const versionVerb = defineVerb({
  name: 'version',
  group: 'This client',
  summary: 'the version of this client, and of the coordinator',
  flags: { client: toggle(false, 'of this client only; dials nothing') },
  examples: ['version', 'version --client'],
  report: async ({ links, values }) => {
    const client = `bigfleetctl ${BUILD_VERSION}`;
    if (values.client) return textReport([client], { client: BUILD_VERSION });
    try {
      const { version, nodeId } = await links.coordinator.ask(
        'get status',
        (api, call) => api.admin.getStatus({}, call),
        { isAnyReplica: true },
      );
      const document = { client: BUILD_VERSION, coordinator: version };
      return textReport([client, `coordinator ${version} (${nodeId})`], document);
    } catch (error) {
      const problems = [describeFailure(error).line];
      const document = { client: BUILD_VERSION, coordinator: null };
      return textReport([client], document, { problems, exitCode: CTL_EXIT.partial });
    }
  },
});

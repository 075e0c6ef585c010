// `version`: of this client, and of the coordinator when it answers.

import { defineVerb } from '../frame/define-verb.ts';
import { describeFailure } from '../frame/describe-failure.ts';
import type { Verb } from '../frame/verb.ts';
import { CTL_EXIT } from '../exit-code.ts';
import { textReport } from '../output/report.ts';
import { BUILD_VERSION } from '../../build-version.ts';
import { toggle } from '@bigfleet/process/flags';

export const versionVerb: Verb = defineVerb({
  name: 'version',
  group: 'This client',
  summary: 'the version of this client, and of the coordinator',
  flags: { client: toggle(false, 'of this client only; dials nothing') },
  examples: ['version', 'version --client'],
  does: {
    kind: 'report',
    isWatchable: false,
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
  },
});

// `list-shard-reports`: what shards told the coordinator last.

import { text } from '@bigfleet/process/flags';
import { defineVerb } from '../frame/define-verb.ts';
import type { Verb } from '../frame/verb.ts';
import { tableReport } from '../output/report.ts';
import { shardReportColumns, shardReportRow } from '../tables/shard-reports.ts';
import { nowOf } from './now.ts';

export const listShardReportsVerb: Verb = defineVerb({
  name: 'list-shard-reports',
  group: 'Look',
  summary: 'what each shard reported to the coordinator last',
  details: ['After a failover the list is empty until the shards report again.'],
  flags: { shard: text('', 'only the report of this shard', '<id>') },
  examples: ['list-shard-reports', 'list-shard-reports --shard=shard-0 -o wide'],
  does: {
    kind: 'report',
    isWatchable: true,
    report: async ({ links, values, context }) => {
      const { reports } = await links.coordinator.ask('list shard reports', (api, call) =>
        api.coordinator.listShardReports({ shardId: values.shard }, call),
      );
      const rows = reports.map((report) => shardReportRow(report, nowOf(context)));
      return tableReport({ columns: shardReportColumns, rows });
    },
  },
});

// Providers. Each has its own prefix, bigfleet_<name>_, so queries select by the end of the name, and the
// job says which one it is.

import type { Dashboard } from '../dashboard.ts';
import { PROCESS_ROW } from './process-row.ts';

/** A selector of the series of every provider. */
const all = (suffix: string, labels = ''): string =>
  `{__name__=~"bigfleet_[a-z0-9_]+_${suffix}",__name__!~"bigfleet_shard_.+"${labels},@}`;

const perSecond = (by: string, suffix: string, labels = ''): string =>
  `sum by (${by}) (rate(${all(suffix, labels)}[$__rate_interval]))`;

const p99 = (label: string, suffix: string): string =>
  `histogram_quantile(0.99, sum by (le, ${label}) (rate(${all(`${suffix}_bucket`)}[$__rate_interval])))`;

export const PROVIDER: Dashboard = {
  name: 'provider',
  title: 'BigFleet / Providers',
  description:
    'Is the substrate seen, do machines get where they should, what does its API answer.',
  choosesBy: '{__name__=~"bigfleet_[a-z0-9_]+_grpc_requests_total"}',
  rows: [
    {
      title: 'Now',
      panels: [
        {
          kind: 'stat',
          title: 'Machines',
          description: 'All machines of the inventories.',
          queries: [{ expr: `sum(${all('machines')})` }],
        },
        {
          kind: 'stat',
          title: 'Failed',
          description:
            'Machines that wait for bigfleetctl provider reset-failed; they may cost money.',
          warnAt: 1,
          queries: [{ expr: `sum(${all('machines', ',state="Failed"')}) or vector(0)` }],
          alerts: ['ConfiguresFailing'],
        },
        {
          kind: 'stat',
          title: 'Panics',
          description: 'Handlers that failed with a bug since the start. Keep the log, report it.',
          badAt: 1,
          queries: [{ expr: `sum(${all('panics_total')})` }],
          alerts: ['ProviderPanics'],
        },
        {
          kind: 'stat',
          title: 'Fenced calls',
          description: 'Calls of a shard process that was replaced. Find it; never retry by hand.',
          badAt: 1,
          queries: [{ expr: `sum(${all('fenced_total')})` }],
          alerts: ['ProviderFencedShard'],
        },
        {
          kind: 'stat',
          title: 'Lost changes',
          description: 'Changes that the durable store did not keep: its disk.',
          badAt: 1,
          queries: [{ expr: `sum(${all('store_save_errors_total')})` }],
        },
        {
          kind: 'stat',
          title: 'Hosts lost',
          description:
            'Machines whose host disappeared since the start: Spot, or somebody deletes them.',
          warnAt: 1,
          queries: [{ expr: `sum(${all('hosts_lost_total')})` }],
        },
      ],
    },
    {
      title: 'Machines',
      panels: [
        {
          kind: 'lines',
          title: 'Machines by state',
          description: 'A transitional band that stays wide is a slow substrate.',
          isStacked: true,
          queries: [{ expr: `sum by (state) (${all('machines')})`, legend: '{{state}}' }],
          alerts: ['TransitionStuck'],
        },
        {
          kind: 'lines',
          title: 'Transitions',
          description:
            'By kind and how they ended. error and timeout: look at the errors by class.',
          unit: 'ops',
          queries: [
            {
              expr: perSecond('kind, outcome', 'transitions_total'),
              legend: '{{kind}} {{outcome}}',
            },
          ],
        },
        {
          kind: 'lines',
          title: 'Transition p99',
          description:
            'From acceptance to the end. create is the boot of a host, configure its join.',
          unit: 's',
          queries: [{ expr: p99('kind', 'transition_duration_seconds'), legend: '{{kind}}' }],
        },
        {
          kind: 'lines',
          title: 'Looks at the substrate',
          description: 'success every --reconcile-interval. Only error: lost hosts stay unknown.',
          unit: 'ops',
          queries: [
            { expr: perSecond('job, outcome', 'reconcile_total'), legend: '{{job}} {{outcome}}' },
          ],
          alerts: ['ProviderReconcileStale'],
        },
      ],
    },
    {
      title: 'Shards that call',
      panels: [
        {
          kind: 'lines',
          title: 'Calls by method',
          description: 'Who asks for what, per second.',
          width: 8,
          unit: 'ops',
          queries: [{ expr: perSecond('method', 'grpc_requests_total'), legend: '{{method}}' }],
        },
        {
          kind: 'lines',
          title: 'Refused calls',
          description:
            'By method and code. ResourceExhausted is throttling, FailedPrecondition a zombie shard.',
          width: 8,
          unit: 'ops',
          queries: [
            {
              expr: perSecond('method, code', 'grpc_requests_total', ',code!="OK"'),
              legend: '{{method}} {{code}}',
            },
          ],
          alerts: ['ProviderRpcFailing', 'ProviderFencedShard'],
        },
        {
          kind: 'lines',
          title: 'Call p99',
          description:
            'Lifecycle calls only accept work and should take milliseconds; List grows with it.',
          width: 8,
          unit: 's',
          queries: [{ expr: p99('method', 'grpc_request_duration_seconds'), legend: '{{method}}' }],
        },
      ],
    },
    {
      title: 'Substrate',
      panels: [
        {
          kind: 'lines',
          title: 'API calls',
          description:
            'By operation and outcome. Above one failure in ten the substrate is unwell.',
          width: 8,
          unit: 'ops',
          queries: [
            {
              expr: perSecond('op, outcome', 'api_calls_total'),
              legend: '{{op}} {{outcome}}',
            },
          ],
          alerts: ['ProviderApiFailing'],
        },
        {
          kind: 'lines',
          title: 'Errors by class',
          description:
            'quota: ask for more. capacity: other types or zones. throttled: fewer at a time.',
          width: 8,
          unit: 'ops',
          queries: [
            { expr: perSecond('class', 'errors_total', ',class!=""'), legend: '{{class}}' },
          ],
          alerts: ['ProviderApiFailing'],
        },
        {
          kind: 'lines',
          title: 'Age of prices',
          description:
            'Nothing is shown where prices are not refreshed. Old prices decide wrongly.',
          width: 8,
          unit: 's',
          warnAt: 10_800,
          queries: [
            { expr: `time() - ${all('price_last_success_timestamp_seconds')}`, legend: '{{job}}' },
          ],
          alerts: ['ProviderPricesStale'],
        },
      ],
    },
    PROCESS_ROW,
  ],
};

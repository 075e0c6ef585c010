// The row that every process has: what it costs to run, and whether its thread of the sockets is free.

import type { Dashboard } from '../dashboard.ts';

export const PROCESS_ROW: Dashboard['rows'][number] = {
  title: 'Process',
  panels: [
    {
      kind: 'lines',
      title: 'Event-loop lag p99',
      description:
        'How late the main thread answers sockets and timers. Above 0.25 s pings and probes suffer: ' +
        'give it processor time; with time left, report it.',
      width: 8,
      unit: 's',
      warnAt: 0.25,
      queries: [{ expr: 'nodejs_eventloop_lag_p99_seconds{@}', legend: '{{instance}} {{thread}}' }],
      alerts: ['EventLoopLag'],
    },
    {
      kind: 'lines',
      title: 'Memory',
      description:
        'Resident memory of the process. It should be flat under a steady fleet; a slope is a leak.',
      width: 8,
      unit: 'bytes',
      queries: [{ expr: 'process_resident_memory_bytes{@}', legend: '{{instance}}' }],
    },
    {
      kind: 'lines',
      title: 'Processor time',
      description:
        'Cores in use. Compare with the limit of the container: at the limit all else lags.',
      width: 8,
      queries: [
        { expr: 'rate(process_cpu_seconds_total{@}[$__rate_interval])', legend: '{{instance}}' },
      ],
    },
  ],
};

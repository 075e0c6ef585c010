// A dashboard: rows of panels, laid out from left to right, with the variables that every one has.
// `docs` is a constant, where this repository's docs are read; panels link to the runbook with it.

import { DATASOURCE, type Panel, renderPanel, sizeOf } from './panel.ts';

export interface Dashboard {
  /** Also the file name, behind `bigfleet-` the uid. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** A selector whose series say which jobs and instances there are to choose from. */
  readonly choosesBy: string;
  readonly from?: string;
  readonly rows: readonly { readonly title: string; readonly panels: readonly Panel[] }[];
}

/** Of Grafana 12; older ones read it, newer ones migrate it. */
const SCHEMA_VERSION = 41;
const COLUMNS = 24;
const TAG = 'bigfleet';
/** Of this repository; who imports a dashboard sets it to where the pages are read. */
const DOCS = 'docs/';

export function renderDashboard(dashboard: Dashboard): object {
  const { name, title, description, choosesBy, from = 'now-6h' } = dashboard;
  return {
    uid: `bigfleet-${name}`,
    title,
    description,
    tags: [TAG],
    schemaVersion: SCHEMA_VERSION,
    version: 1,
    editable: true,
    graphTooltip: 1,
    timezone: 'browser',
    refresh: '30s',
    time: { from, to: 'now' },
    timepicker: {},
    fiscalYearStartMonth: 0,
    weekStart: '',
    preload: false,
    links: [
      {
        title: 'BigFleet',
        type: 'dashboards',
        tags: [TAG],
        asDropdown: true,
        includeVars: false,
        keepTime: true,
        targetBlank: false,
        icon: 'external link',
        tooltip: '',
        url: '',
      },
    ],
    annotations: { list: [] },
    templating: { list: variables(choosesBy) },
    panels: layOut(dashboard),
  };
}

function variables(choosesBy: string): readonly object[] {
  const withJob = choosesBy.replace('}', ',job=~"$job"}').replace('{,', '{');
  return [
    {
      name: 'datasource',
      label: 'Data source',
      type: 'datasource',
      query: 'prometheus',
      current: {},
      refresh: 1,
      regex: '',
      hide: 0,
    },
    chooser('job', 'Job', `label_values(${choosesBy.replace('{}', '')}, job)`),
    // The jobs are ours already: all instances of them need no list that grows with the fleet.
    { ...chooser('instance', 'Instance', `label_values(${withJob}, instance)`), allValue: '.+' },
    {
      name: 'docs',
      label: 'Docs',
      type: 'constant',
      query: DOCS,
      current: { text: DOCS, value: DOCS },
      hide: 2,
      skipUrlSync: true,
    },
  ];
}

/** All of it means the listed ones: `process_*` and `up` of other jobs stay out. */
function chooser(name: string, label: string, query: string): object {
  return {
    name,
    label,
    type: 'query',
    datasource: DATASOURCE,
    definition: query,
    query: { query, qryType: 1, refId: 'PrometheusVariableQueryEditor-VariableQuery' },
    refresh: 2,
    sort: 1,
    multi: true,
    includeAll: true,
    current: { text: ['All'], value: ['$__all'] },
    hide: 0,
    regex: '',
  };
}

function layOut({ rows }: Dashboard): readonly object[] {
  const placed: object[] = [];
  let id = 0;
  let top = 0;
  for (const { title, panels } of rows) {
    id += 1;
    placed.push({
      id,
      type: 'row',
      title,
      collapsed: false,
      gridPos: { x: 0, y: top, w: COLUMNS, h: 1 },
      panels: [],
    });
    top += 1;
    let x = 0;
    let tallest = 0;
    for (const panel of panels) {
      const { w, h } = sizeOf(panel);
      if (x + w > COLUMNS) {
        x = 0;
        top += tallest;
        tallest = 0;
      }
      id += 1;
      placed.push(renderPanel(panel, { id, gridPos: { x, y: top, w, h } }));
      x += w;
      tallest = Math.max(tallest, h);
    }
    top += tallest;
  }
  return placed;
}

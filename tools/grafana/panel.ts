// Panels as this repository writes them, and as Grafana reads them. A query names the selection of the
// dashboard as `@`: `bigfleet_shard_shortfalls{@}` is `{job=~"$job",instance=~"$instance"}`.

export interface Query {
  readonly expr: string;
  /** Of the series, in Grafana's notation; the name of the value unless told. */
  readonly legend?: string;
}

interface Common {
  readonly title: string;
  /** What it shows, what is normal, and what to do otherwise. */
  readonly description: string;
  /** Columns of 24. */
  readonly width?: number;
  readonly unit?: Unit;
  readonly queries: readonly Query[];
  /** The first value that is a warning, the first that is bad. */
  readonly warnAt?: number;
  readonly badAt?: number;
  /** Alerts whose sections of the runbook say more. */
  readonly alerts?: readonly string[];
}

export type Unit = 'short' | 's' | 'bytes' | 'percentunit' | 'ops' | 'dateTimeFromNow' | 'none';

export type Panel =
  | (Common & { readonly kind: 'stat'; readonly mappings?: Readonly<Record<string, string>> })
  | (Common & { readonly kind: 'lines'; readonly isStacked?: boolean })
  | (Common & { readonly kind: 'heatmap' })
  | (Common & { readonly kind: 'table' });

export interface Place {
  readonly id: number;
  readonly gridPos: {
    readonly x: number;
    readonly y: number;
    readonly w: number;
    readonly h: number;
  };
}

const SELECTION = 'job=~"$job",instance=~"$instance"';
export const DATASOURCE: object = { type: 'prometheus', uid: '${datasource}' };
const RUNBOOK = '${docs}operator-guide.md';

const SIZES: Readonly<Record<Panel['kind'], { readonly w: number; readonly h: number }>> = {
  stat: { w: 4, h: 4 },
  lines: { w: 12, h: 8 },
  heatmap: { w: 12, h: 8 },
  table: { w: 24, h: 6 },
};

export function sizeOf(panel: Panel): { readonly w: number; readonly h: number } {
  const { w, h } = SIZES[panel.kind];
  return { w: panel.width ?? w, h };
}

export function renderPanel(panel: Panel, place: Place): object {
  return {
    ...place,
    type: TYPES[panel.kind],
    title: panel.title,
    description: panel.description,
    datasource: DATASOURCE,
    links: (panel.alerts ?? []).map((alert) => ({
      title: `Runbook: ${alert}`,
      url: `${RUNBOOK}#${alert.toLowerCase()}`,
      targetBlank: true,
    })),
    fieldConfig: { defaults: fieldDefaults(panel), overrides: [] },
    options: optionsOf(panel),
    targets: panel.queries.map((query, at) => renderQuery(panel, query, at)),
  };
}

const TYPES = { stat: 'stat', lines: 'timeseries', heatmap: 'heatmap', table: 'table' } as const;

function renderQuery(panel: Panel, { expr, legend }: Query, at: number): object {
  const isTable = panel.kind === 'table';
  return {
    refId: String.fromCharCode('A'.charCodeAt(0) + at),
    datasource: DATASOURCE,
    editorMode: 'code',
    expr: expr.replaceAll('@', SELECTION),
    legendFormat: legend ?? '__auto',
    format: isTable ? 'table' : panel.kind === 'heatmap' ? 'heatmap' : 'time_series',
    instant: isTable,
    range: !isTable,
  };
}

function fieldDefaults(panel: Panel): object {
  const { unit = 'short', warnAt, badAt } = panel;
  const hasThresholds = warnAt !== undefined || badAt !== undefined;
  const steps = [
    { color: 'green', value: null },
    ...(warnAt === undefined ? [] : [{ color: 'orange', value: warnAt }]),
    ...(badAt === undefined ? [] : [{ color: 'red', value: badAt }]),
  ];
  const common = { unit, thresholds: { mode: 'absolute', steps } };
  switch (panel.kind) {
    case 'lines':
      return {
        ...common,
        min: 0,
        color: { mode: 'palette-classic' },
        custom: {
          drawStyle: 'line',
          lineWidth: 1,
          fillOpacity: panel.isStacked === true ? 40 : 8,
          showPoints: 'never',
          spanNulls: false,
          stacking: { mode: panel.isStacked === true ? 'normal' : 'none', group: 'A' },
          thresholdsStyle: { mode: hasThresholds ? 'dashed' : 'off' },
        },
      };
    case 'stat':
      return {
        ...common,
        color: { mode: 'thresholds' },
        mappings: Object.entries(panel.mappings ?? {}).map(([value, text]) => ({
          type: 'value',
          options: { [value]: { text } },
        })),
      };
    case 'heatmap':
    case 'table':
      return common;
  }
}

function optionsOf(panel: Panel): object {
  switch (panel.kind) {
    case 'lines':
      return {
        legend: { displayMode: 'list', placement: 'bottom', showLegend: true, calcs: [] },
        tooltip: { mode: 'multi', sort: 'desc' },
      };
    case 'stat':
      return {
        reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
        colorMode: 'background',
        graphMode: 'area',
        justifyMode: 'auto',
        orientation: 'auto',
        textMode: 'auto',
        wideLayout: true,
      };
    case 'heatmap':
      return {
        calculate: false,
        cellGap: 1,
        color: { mode: 'scheme', scheme: 'Oranges', exponent: 0.5, steps: 64, reverse: false },
        filterValues: { le: 1e-9 },
        legend: { show: true },
        tooltip: { mode: 'single', yHistogram: false, showColorScale: true },
        yAxis: { unit: panel.unit ?? 'short', axisPlacement: 'left', reverse: false },
      };
    case 'table':
      return { showHeader: true, cellHeight: 'sm', footer: { show: false, reducer: [] } };
  }
}

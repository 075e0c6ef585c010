// The dashboards that ship, as deploy/grafana holds them, and their queries as Grafana would send them.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const FOLDER = path.join(import.meta.dirname, '../../deploy/grafana');

export interface GridPos {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: GridPos;
  readonly links?: readonly { readonly title: string; readonly url: string }[];
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string } };
  readonly targets?: readonly { readonly refId: string; readonly expr: string }[];
}

export interface Variable {
  readonly name: string;
  readonly type: string;
  readonly query: string | { readonly query: string };
}

export interface Dashboard {
  readonly file: string;
  readonly uid: string;
  readonly title: string;
  readonly schemaVersion: number;
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly Variable[] };
}

export const DASHBOARDS: readonly Dashboard[] = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.json'))
  .map((file) => ({
    ...(JSON.parse(readFileSync(path.join(FOLDER, file), 'utf8')) as Omit<Dashboard, 'file'>),
    file,
  }));

export interface PanelQuery {
  /** Dashboard, panel and query. */
  readonly at: string;
  readonly expr: string;
}

/** What a reader chooses. */
export interface Choice {
  readonly job: string;
  readonly instance: string;
  /** As Grafana makes it of the scrape interval. */
  readonly rateInterval: string;
}

export function queriesOf({ file, panels }: Dashboard): readonly PanelQuery[] {
  return panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ refId, expr }) => ({ at: `${file}, ${title}, ${refId}`, expr })),
  );
}

export function resolved(expr: string, { job, instance, rateInterval }: Choice): string {
  return expr
    .replaceAll('$job', job)
    .replaceAll('$instance', instance)
    .replaceAll('$__rate_interval', rateInterval);
}

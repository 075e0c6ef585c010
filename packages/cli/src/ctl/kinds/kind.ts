// A kind of thing as a table: what its columns are, where its rows come from, which filters say
// something about them, and how a person names one of them. `get`, `describe`, `list-*`, `top` and
// completion are generic over it, so no kind can print in two ways or be known to one verb alone.

import { ok, type Result } from '@bigfleet/base';
import type { CallOptions } from '@bigfleet/wire';
import type { CoordinatorApi } from '../connect/coordinator.ts';
import type { Links } from '../connect/links.ts';
import { exitCodeOf, type ShardApi, shardLabel, type ShardSelection } from '../connect/shards.ts';
import type { Style } from '../output/style.ts';
import type { TableForm } from '../output/table.ts';
import { type TableOptions, type TableReport, tableReport } from '../output/report.ts';
import type { NeedRef } from './need-name.ts';
import type { SelectorRequirement } from './selector.ts';

export interface ListQuery extends ShardSelection {
  readonly clusters: readonly string[];
  readonly machines: readonly string[];
  readonly requirements: readonly SelectorRequirement[];
  /** Numbers of machine states. */
  readonly states: readonly number[];
  readonly provider: string;
  /** Transfers that are done or aborted too. */
  readonly includeClosed: boolean;
  /** 0: no bound. */
  readonly limit: number;
}

export const EVERYTHING: ListQuery = {
  shards: [],
  addresses: [],
  clusters: [],
  machines: [],
  requirements: [],
  states: [],
  provider: '',
  includeClosed: false,
  limit: 0,
};

export interface ListAsk {
  readonly links: Links;
  readonly query: ListQuery;
  readonly nowUnixNanos: bigint;
}

/** `--cluster`, `--provider`, and `--selector` with `--state`; `--shard` and `--limit` always apply. */
export type Filter = 'cluster' | 'provider' | 'machine';

/** What the records of a shard can be asked about. */
export type Subject =
  | { readonly case: 'machineId'; readonly value: string }
  | { readonly case: 'need'; readonly value: NeedRef };

/** Rows, and what a reader should know about them: who did not answer, what was left out. */
export type RowSource<Row> = (ask: ListAsk) => Promise<Omit<TableOptions<Row>, 'columns'>>;

interface KindTable<Row extends object> extends Pick<TableOptions<Row>, 'columns'> {
  /** As `get` takes it; `describe` takes it without the s. */
  readonly plural: string;
  readonly filters?: readonly Filter[] | undefined;
  readonly rows: RowSource<Row>;
  readonly isNamed: (row: Row, name: string) => boolean;
  /** Spares rows that the name cannot mean; an error says how names are written. */
  readonly narrow?: ((name: string) => Result<Partial<ListQuery>, string>) | undefined;
  /** For kinds whose decisions are recorded. */
  readonly subjectOf?: ((row: Row) => Subject) | undefined;
  /** For kinds of which a part reads better as a table than as fields. */
  readonly details?: ((row: Row) => Details) | undefined;
}

/** What `describe` prints of one row: its fields, and a table below them. */
export interface Details {
  readonly row: object;
  readonly table?: {
    readonly title: string;
    readonly lines: (form: TableForm, style: Style) => readonly string[];
  };
}

export interface Found<Row> {
  readonly row: Row;
  readonly subject: Subject | undefined;
  readonly details: Details;
}

export interface Kind<Row extends object = object> {
  readonly plural: string;
  readonly filters: readonly Filter[];
  readonly list: (ask: ListAsk) => Promise<TableReport<Row>>;
  readonly find: (
    ask: ListAsk,
    name: string,
  ) => Promise<{ found: readonly Found<Row>[]; problems: readonly string[] }>;
}

export function defineKind<Row extends object>(table: KindTable<Row>): Kind<Row> {
  const { plural, columns, filters = [], rows: source, isNamed, subjectOf } = table;
  return {
    plural,
    filters,
    list: async (ask) => {
      const { rows, ...rest } = await source(ask);
      return tableReport({ columns, rows: limited(rows, ask.query), ...rest });
    },
    find: async (ask, name) => {
      const narrowed = table.narrow?.(name) ?? ok({});
      if (!narrowed.ok) return { found: [], problems: [narrowed.error] };
      const query = { ...ask.query, ...narrowed.value };
      const { rows, problems = [] } = await source({ ...ask, query });
      const named = rows.filter((row) => isNamed(row, name));
      const found = named.map((row) => ({
        row,
        subject: subjectOf?.(row),
        details: table.details?.(row) ?? { row },
      }));
      return { found, problems };
    },
  };
}

/** A limit bounds what shards send; what several of them sent together is bounded here. */
export function limited<Row>(rows: readonly Row[], { limit }: ListQuery): readonly Row[] {
  return limit === 0 ? rows : rows.slice(0, limit);
}

interface FromShards<Value, Row> {
  readonly feature: string;
  readonly ask: (api: ShardApi, call: CallOptions, query: ListQuery) => Promise<Value>;
  /** `shard` is its label. */
  readonly rows: (value: Value, shard: string, ask: ListAsk) => readonly Row[];
  /** Why an answer is not complete. */
  readonly note?: ((value: Value) => string | undefined) | undefined;
}

/** Rows that shards hold: those that were chosen are asked a few at a time. */
export function fromShards<Value, Row>(source: FromShards<Value, Row>): RowSource<Row> {
  const { feature, ask: work, rows, note } = source;
  return async (ask) => {
    const { links, query } = ask;
    const targets = await links.shards.find(query);
    const asked = await links.shards.askAll(targets, feature, (api, call) =>
      work(api, call, query),
    );
    const notes = asked.answers.flatMap(({ shard, value }) => {
      const text = note?.(value);
      return text === undefined ? [] : [`${shardLabel(shard)}: ${text}`];
    });
    return {
      rows: asked.answers.flatMap(({ shard, value }) => rows(value, shardLabel(shard), ask)),
      problems: [...asked.problems, ...notes],
      exitCode: exitCodeOf(asked),
    };
  };
}

/** Rows that the coordinator holds. */
export function fromCoordinator<Row>(
  feature: string,
  rows: (api: CoordinatorApi, call: CallOptions, ask: ListAsk) => Promise<readonly Row[]>,
): RowSource<Row> {
  return async (ask) => ({
    rows: await ask.links.coordinator.ask(feature, (api, call) => rows(api, call, ask)),
  });
}

/** One of them is the server's question; of several, rows are chosen here. */
export function onlyOne(ids: readonly string[]): string {
  return ids.length === 1 ? (ids[0] ?? '') : '';
}

export function isOfShard({ shards }: ListQuery, shard: string): boolean {
  return shards.length === 0 || shards.includes(shard);
}

export function isOfCluster({ clusters }: ListQuery, cluster: string): boolean {
  return clusters.length === 0 || clusters.includes(cluster);
}

export async function collect<T>(stream: AsyncIterable<T>): Promise<readonly T[]> {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
}

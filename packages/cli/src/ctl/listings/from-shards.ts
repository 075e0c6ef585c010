// Rows that shards hold: asks those that were chosen, a few at a time, and puts the rows together.

import type { ShardAnswer, ShardTarget, ShardWork } from '../connect/shards.ts';
import type { Column } from '../output/table.ts';
import { type TableReport, tableReport } from '../output/report.ts';
import { exitCodeOf, limited, type ListAsk } from './listing.ts';

export interface FromShards<Value, Row> {
  readonly feature: string;
  readonly columns: readonly Column<Row>[];
  readonly work: ShardWork<Value>;
  readonly rowsOf: (answer: ShardAnswer<Value>) => readonly Row[];
  /** What a reader should know about an answer: that it is not complete. */
  readonly noteOf?: (answer: ShardAnswer<Value>) => string | undefined;
}

export async function listFromShards<Value, Row>(
  { links, query }: ListAsk,
  { feature, columns, work, rowsOf, noteOf }: FromShards<Value, Row>,
): Promise<TableReport<Row>> {
  const { shards: ids, addresses } = query;
  const targets = await links.shards.find({ ids, addresses });
  const asked = await links.shards.askAll(targets, feature, work);
  const rows = limited(asked.answers.flatMap(rowsOf), query);
  const notes = asked.answers
    .map((answer) => noteOf?.(answer))
    .filter((note) => note !== undefined);
  const problems = [...asked.problems, ...notes];
  return tableReport({ columns, rows, problems, exitCode: exitCodeOf(asked) });
}

/** The id, or the address when no id is known. */
export function shardLabel({ id, address }: ShardTarget): string {
  return id === '' ? address : id;
}

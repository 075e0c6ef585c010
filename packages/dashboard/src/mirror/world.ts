// A fleet at one moment, as views see it: the live one, or a copy walked back. Views cannot tell them
// apart, so a past moment is drawn by the code that drew it when it was now.

import type { Source } from '../api/index.ts';
import type { Columns } from './columns.ts';
import type { NeedTable } from './need-table.ts';
import type { Head, ShardMirror } from './shard-mirror.ts';
import type { Supply } from './supply.ts';

export interface ShardWorld {
  /** Names, series and samples, which know their own times. */
  readonly mirror: ShardMirror;
  readonly columns: Columns;
  readonly supply: Supply;
  readonly needs: NeedTable;
  readonly head: Head;
}

export interface World {
  readonly atMs: number;
  readonly isPast: boolean;
  readonly oldestMs: number;
  readonly shards: readonly ShardWorld[];
  readonly sources: readonly Source[];
}

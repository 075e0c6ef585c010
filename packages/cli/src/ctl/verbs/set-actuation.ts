// Changes the actuation of several shards and says for each what holds now. One that cannot be
// reached is reported, and the others are changed all the same.

import type { SetActuationRequest } from '@bigfleet/wire';
import { CTL_EXIT } from '../exit-code.ts';
import type { Links } from '../frame/links.ts';
import { exitCodeOf } from '../listings/listing.ts';
import { shardLabel } from '../listings/from-shards.ts';
import { type Report, textReport } from '../output/report.ts';
import { type ActuationRow, actuationRow } from '../tables/actuation.ts';
import type { ChosenValues } from './chosen-shards.ts';

export type ActuationChange = Partial<Omit<SetActuationRequest, '$typeName' | '$unknown'>>;

export interface Said {
  readonly line: string;
  /** The shard is now as it was asked to be. */
  readonly isDone: boolean;
}

export async function setActuation(
  links: Links,
  { shard: ids, 'shard-addr': addresses }: ChosenValues,
  change: ActuationChange,
  say: (shard: string, state: ActuationRow) => Said,
): Promise<Report> {
  const shards = await links.shards.find({ ids, addresses });
  const asked = await links.shards.askAll(shards, 'set actuation', (api, call) =>
    api.admin.setActuation(change, call),
  );
  const states = asked.answers.map(({ shard, value }) => ({
    shard: shardLabel(shard),
    ...actuationRow(value),
  }));
  const said = states.map((state) => say(state.shard, state));
  const isDone = said.every((each) => each.isDone);
  return textReport(
    said.map(({ line }) => line),
    states,
    { problems: asked.problems, exitCode: isDone ? exitCodeOf(asked) : CTL_EXIT.failed },
  );
}

// ShardRead.InspectNeeds: the header, then the verdicts of one cycle in order, page by page from the
// engine's thread, however slowly they are read. When newer verdicts replaced the ones that a slow
// reader was reading, its stream ends with an error: a mixture of cycles would be worse.

import { BigFleetError, type Timers } from '@bigfleet/base';
import type { InspectNeedsRequest } from '@bigfleet/wire';
import type { EngineHost } from '../engine-host/engine-host.ts';
import { type InspectNeedsInit, needView } from '../engine-host/need-view.ts';
import type { CycleTimes } from './cycle-times.ts';
import { limitOf } from './requests.ts';

const PAGE_ROWS = 250;
const INT32_MAX = 2 ** 31 - 1;

export interface InspectNeedsOptions {
  readonly host: Pick<EngineHost, 'verdicts'>;
  readonly times: CycleTimes;
  readonly timers: Timers;
}

export async function* inspectNeeds(
  { host, times, timers }: InspectNeedsOptions,
  request: InspectNeedsRequest,
): AsyncGenerator<InspectNeedsInit, void> {
  const cluster = request.clusterId;
  const limit = limitOf(request.limit);
  const pageRows = Math.min(PAGE_ROWS, limit);
  let page = await host.verdicts({ cluster, offset: 0, limit: pageRows });
  const { cycle, total } = page;
  yield {
    frame: {
      case: 'header',
      value: {
        cycle: BigInt(cycle),
        computedAtUnixNanos: cycle === 0 ? 0n : times.at(cycle),
        totalNeeds: Math.min(total, INT32_MAX),
      },
    },
  };
  for (let sent = 0; page.rows.length > 0; ) {
    for (const row of page.rows) yield { frame: { case: 'need', value: needView(row) } };
    sent += page.rows.length;
    if (sent >= Math.min(total, limit)) return;
    await timers.turn();
    page = await host.verdicts({
      cluster,
      cycle,
      offset: sent,
      limit: Math.min(pageRows, limit - sent),
    });
    if (page.cycle !== cycle) throw replaced(cycle, page.cycle);
  }
}

function replaced(cycle: number, by: number): BigFleetError {
  return new BigFleetError(
    'verdicts_replaced',
    `the verdicts of cycle ${cycle} gave way to those of ${by}`,
  );
}

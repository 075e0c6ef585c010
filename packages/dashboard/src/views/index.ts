// Every view by its name: the world at a moment and parameters in, an answer of the API out. Pure but for
// what only a shard, a cluster or a record store can answer.

import { ok, type Result } from '@bigfleet/base';
import type { Answer, Params, Problem, ViewName } from '../api/index.ts';
import type { World } from '../mirror/world.ts';
import { clustersView, coordinatorView, shardsView } from './components.ts';
import { frameOf, type ViewContext } from './context.ts';
import { costView } from './cost.ts';
import { decisionsView } from './decisions.ts';
import { explainView } from './explain.ts';
import { lifecycleView } from './lifecycle.ts';
import { machinesView } from './machines.ts';
import { mapView } from './map.ts';
import { needsView } from './needs.ts';
import { nowView } from './now.ts';
import { providersView } from './providers.ts';
import { recordView } from './record.ts';
import { triageView } from './triage.ts';

export type { ViewContext } from './context.ts';
export { explainRecord } from './explain.ts';

type View<V extends ViewName> = (
  world: World,
  params: Params<V>,
  context: ViewContext,
) => Promise<Result<Answer<V>, Problem>> | Result<Answer<V>, Problem>;

export const views: { readonly [V in ViewName]: View<V> } = {
  now: (world, _, context) => ok(nowView(world, context)),
  map: (world, params, context) => ok(mapView(world, params, context)),
  machines: (world, params, context) => ok(machinesView(world, params, context)),
  needs: (world, params, context) => ok(needsView(world, params, context)),
  decisions: (world, params, context) => ok(decisionsView(world, params, context)),
  record: recordView,
  explain: explainView,
  cost: (world, params, context) => ok(costView(world, params, context)),
  triage: (world, params, context) => ok(triageView(world, params, context)),
  lifecycle: (world, params, context) => ok(lifecycleView(world, params, context)),
  providers: (world, _, context) => ok(providersView(world, context)),
  clusters: (world, params, context) => ok(clustersView(world, params, context)),
  shards: (world, _, context) => ok(shardsView(world, context)),
  coordinator: (world, _, context) => ok(coordinatorView(world, context)),
  async whatif(world, params, context) {
    const asked = await context.outside.whatIf(params);
    return asked.ok ? ok({ frame: frameOf(world, context), ...asked.value }) : asked;
  },
};

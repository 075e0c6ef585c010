// Virtual time, cluster model, workload catalogue, scenarios, fault injection. The engine is an
// argument everywhere; the default is the oracle.

export * from './catalogue/cost-routing.ts';
export * from './catalogue/distributions.ts';
export { realistic, REALISTIC_MACHINE_PERCENT } from './catalogue/realistic.ts';
export * from './catalogue/realistic-dev.ts';
export * from './catalogue/schema.ts';
export * from './catalogue/sizing.ts';
export * from './catalogue/validate.ts';
export { supplyExhaustion } from './closed-loop/canaries.ts';
export * from './closed-loop/closed-loop.ts';
export * from './closed-loop/cluster-model.ts';
export * from './closed-loop/rollup.ts';
export * from './closed-loop/seed-machines.ts';
export * from './closed-loop/shape.ts';
export { cacheGang, gpuGang, service, tiny } from './closed-loop/shapes.ts';
export * from './closed-loop/stats.ts';
export * from './demand-table.ts';
export * from './incremental-engine.ts';
export * from './provider/execute.ts';
export * from './provider/provider-model.ts';
export * from './scenarios/scenario.ts';
export { scriptedScenarios } from './scenarios/scripted.ts';
export * from './seeds.ts';
export * from './step.ts';
export * from './trace.ts';
export * from './watched/settings.ts';
export { watchedScenarios } from './watched/watched-scenarios.ts';
export type { WatchedScenario, WatchedWorld } from './watched/watched-world.ts';

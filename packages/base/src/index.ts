// Ids, units, quantities, money, clock, seeded random, errors, reasons, assertions, bounded
// queues. Imports nothing and runs anywhere. The real clock and timers are a separate entry
// point, `@bigfleet/base/real`, so that pure packages cannot reach them by accident.

export * from './assert.ts';
export * from './backoff.ts';
export * from './bounded-queue.ts';
export * from './deadline.ts';
export * from './errors/bigfleet-error.ts';
export * from './errors/catalogue.ts';
export * from './ids.ts';
export * from './money.ts';
export { Murmur3, textDigest, type TextDigest } from './murmur3.ts';
export * from './penalty-bucket.ts';
export * from './priority-class.ts';
export { MAX_QUANTITY_LENGTH, parseQuantity } from './quantity/parse.ts';
export * from './quantity/quanta.ts';
export * from './quantity/quantity.ts';
export { createRandom, seededEntropy } from './runtime/random.ts';
export * from './reasons/action-reasons.ts';
export * from './reasons/candidate-reasons.ts';
export * from './reasons/catalogue.ts';
export * from './reasons/coordination-reasons.ts';
export * from './reasons/counterfactuals.ts';
export * from './reasons/entry.ts';
export * from './reasons/input-refusals.ts';
export * from './reasons/outcomes.ts';
export * from './reasons/unmet-reasons.ts';
export * from './result.ts';
export type * from './runtime/runtime.ts';
export * from './runtime/virtual.ts';
export * from './text-order.ts';
export * from './timer-wheel.ts';

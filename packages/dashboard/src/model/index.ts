// The model: pure and browser-safe. Time is an argument, and nothing here knows the wire.

export type * from '../facts.ts';
export { createFleet } from './fleet.ts';
export { explainRecord } from '../views/index.ts';

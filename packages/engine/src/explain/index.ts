// Explanations of decisions: why, from a record, and what would change the answer, from a state.

export * from './answer.ts';
export { applyChange, type Change, type Changed } from './change.ts';
export * from './counterfactual.ts';
export { type DispositionNote, explainDispositions } from './dispositions.ts';
export { executed } from './executed.ts';
export { explain } from './explain.ts';

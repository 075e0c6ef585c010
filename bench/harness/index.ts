// What a bench file imports.

export type { Interleaved, InterleavedOptions, Side, SideResult } from './compare-interleaved.ts';
export { compareInterleaved } from './compare-interleaved.ts';
export type {
  Apart,
  Bar,
  Bars,
  Bench,
  BenchContext,
  BenchEntry,
  Extra,
  ExtraValue,
  Ratio,
  Shape,
  ShapeRule,
  ShapeValue,
  Timing,
} from './define-bench.ts';
export { defineBench, defineRatio, keep } from './define-bench.ts';
export type { Retained } from './retained-bytes.ts';
export { measureRetained } from './retained-bytes.ts';

// A Kubernetes resource quantity as an exact value: bigint nano-units plus the format it was
// written in. Never finer than nano: finer fractions round away from zero, so that asking for a
// little does not become asking for nothing. Never unbounded: binary quantities saturate at
// 2⁶³ − 1 as in Kubernetes, decimal ones at 10³⁶, where Kubernetes has no bound. Two spellings of
// one value compare equal. Made by parseQuantity only, which keeps these bounds.

/** How the value was written, kept for printing; never part of the value. */
export type QuantityFormat = 'decimalSI' | 'binarySI' | 'decimalExponent';

export interface Quantity {
  readonly nanos: bigint;
  readonly format: QuantityFormat;
}

export interface QuantityError {
  readonly code: 'quantity_malformed' | 'quantity_negative' | 'quantity_too_long';
  /** The input, cut to the length limit: it may come from a hostile peer. */
  readonly text: string;
  /** Index of the first character that does not fit the grammar; 0 for the other codes. */
  readonly at: number;
}

export const NANOS_PER_UNIT = 1_000_000_000n;

export const MAX_BINARY_NANOS: bigint = (2n ** 63n - 1n) * NANOS_PER_UNIT;

export const MAX_DECIMAL_NANOS: bigint = 10n ** 36n * NANOS_PER_UNIT;

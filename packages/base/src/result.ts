// Tagged results for outcomes that a correct caller must expect: a malformed quantity, an id
// outside the grammar, a full queue. The environment throws BigFleetError and bugs trip assert;
// a Result is never used for either, so that `ok: false` always means "decide what to do".

export interface Ok<T> {
  readonly ok: true;
  readonly value: T;
}

export interface Err<E> {
  readonly ok: false;
  readonly error: E;
}

export type Result<T, E> = Ok<T> | Err<E>;

export function ok<T>(value: T): Ok<T> {
  return { ok: true, value };
}

export function err<E>(error: E): Err<E> {
  return { ok: false, error };
}

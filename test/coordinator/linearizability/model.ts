// The model that a history is checked against: one register per cluster id, "which shard is it bound
// to", with the coordinator's own commands on it. A bind is a compare-and-set (first contact wins),
// a forced bind a write, an unbind a clear, a read a read. Registers are independent, and
// linearizability of the whole is that of each, so each is checked alone.

export type Operation =
  | { readonly kind: 'bind'; readonly shard: string }
  | { readonly kind: 'force'; readonly shard: string }
  | { readonly kind: 'unbind' }
  | { readonly kind: 'read' };

/** What the client heard. `ok` and `refused` answer writes, a value (or null) answers a read. */
export type Answer =
  | { readonly kind: 'ok' }
  | { readonly kind: 'refused' }
  | { readonly kind: 'value'; readonly shard: string | null };

/** A call's end: an answer, or nobody knows, or it certainly had no effect. */
export type Outcome = Answer | { readonly kind: 'unknown' } | { readonly kind: 'none' };

export type Register = string | null;

/** The register after the operation, or `undefined` when the answer is impossible here. */
export function step(
  register: Register,
  operation: Operation,
  answer: Answer | undefined,
): Register | undefined {
  switch (operation.kind) {
    case 'read':
      // A read whose answer nobody heard says nothing and changes nothing.
      if (answer === undefined) return register;
      return answer.kind === 'value' && answer.shard === register ? register : undefined;
    case 'bind': {
      const fits = register === null || register === operation.shard;
      if (answer === undefined) return fits ? operation.shard : register;
      if (answer.kind === 'ok') return fits ? operation.shard : undefined;
      return answer.kind === 'refused' && !fits ? register : undefined;
    }
    case 'force':
      return answer === undefined || answer.kind === 'ok' ? operation.shard : undefined;
    case 'unbind':
      return answer === undefined || answer.kind === 'ok' ? null : undefined;
  }
}

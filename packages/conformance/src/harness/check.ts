// What a behaviour's test is: an id of the frozen catalogue and one function over the context.
// A check ends in one of three ways: it returns (passed), it throws `SkipCheck` (typed, because
// an absent capability is a pass and a provider too small to judge is not), or it throws anything
// else (failed, with the message as the finding).

import type { CheckContext } from './context.ts';

export type SkipKind = 'capability-absent' | 'precondition-unmet';

export class SkipCheck extends Error {
  readonly kind: SkipKind;

  constructor(kind: SkipKind, reason: string) {
    super(reason);
    this.name = 'SkipCheck';
    this.kind = kind;
  }
}

/** A finding: what the endpoint did against what the behaviour asks for. */
export class CheckFailed extends Error {
  override readonly name = 'CheckFailed';
}

export interface Check {
  /** `Bnnn` of the catalogue; the runner refuses an unknown one. */
  readonly id: string;
  run(context: CheckContext): Promise<void>;
}

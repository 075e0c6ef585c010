// What a wall is: a scope of files it must see, and a check per file. run.ts applies it to the
// tree and fails it when it saw fewer files than an independent listing holds.

import type { Tree, TreeFile } from './tree.ts';

export interface Rule {
  readonly id: string;
  /** What is forbidden, one line. */
  readonly forbids: string;
  /** What to do about a violation, one line. */
  readonly instead: string;
  readonly scope: (path: string) => boolean;
  readonly inspect: (file: TreeFile, tree: Tree) => readonly Finding[];
}

export interface Finding {
  readonly line: number;
  readonly message: string;
}

export interface Violation extends Finding {
  readonly rule: string;
  readonly file: string;
}

export interface RuleResult {
  readonly rule: Rule;
  readonly seen: number;
  readonly expected: number;
  readonly violations: readonly Violation[];
}

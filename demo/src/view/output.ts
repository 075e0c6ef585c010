// What a view writes to, and what it does.

import type { Scene } from './scene.ts';

export interface Output {
  readonly isTerminal: boolean;
  /** Of a terminal; what is shown is cut to it. */
  readonly columns: number;
  readonly rows: number;
  write(text: string): void;
}

export interface View {
  show(scene: Scene): void;
  line(text: string): void;
  /** Leaves the screen as it was found. Idempotent. */
  close(): void;
}

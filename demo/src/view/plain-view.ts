// Without a terminal: one status line per second or so and the decisions since the last one, a few at
// most, so that a log of a long run stays readable.

import type { Output, View } from './output.ts';
import type { Scene } from './scene.ts';
import { clock, decisionText, dollarsText, statesText } from './words.ts';

const EVERY_MS = 1_000;
const DECISIONS_PER_STATUS = 3;

export class PlainView implements View {
  readonly #output: Output;
  #shownMs = Number.NEGATIVE_INFINITY;
  #shownDecisionCount = 0;

  constructor(output: Output) {
    this.#output = output;
  }

  line(text: string): void {
    this.#output.write(`${text}\n`);
  }

  show(scene: Scene): void {
    if (scene.elapsedMs - this.#shownMs < EVERY_MS) return;
    this.#shownMs = scene.elapsedMs;
    this.#decisions(scene);
    const unmet = scene.unmet.map(({ priorityClass, count }) => `${priorityClass} ${count}`);
    this.line(
      `${clock(scene.elapsedMs)}  cycle ${scene.cycle}  ${statesText(scene)}  ` +
        `${dollarsText(scene.dollarsPerHour)}  unmet: ${unmet.join(', ')}`,
    );
  }

  close(): void {}

  #decisions({ decisions, decisionCount }: Scene): void {
    const newCount = decisionCount - this.#shownDecisionCount;
    this.#shownDecisionCount = decisionCount;
    if (newCount === 0) return;
    const shown = decisions.slice(-Math.min(newCount, DECISIONS_PER_STATUS));
    const hiddenCount = newCount - shown.length;
    if (hiddenCount > 0) this.line(`  … and ${hiddenCount} more decisions`);
    for (const decision of shown) this.line(`  ${decisionText(decision)}`);
  }
}

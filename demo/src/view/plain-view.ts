// Without a terminal: one status line per second or so, before it the decisions since the last one, a
// few at most, so that a log of a long run stays readable, and every step of a transfer. Clusters and providers
// have their lines less often: they would be most of the log.

import type { Output, View, Scene } from './scene.ts';
import {
  clock,
  clusterText,
  decisionText,
  dollarsText,
  ownerText,
  providerText,
  statesText,
  transferText,
} from './words.ts';

const EVERY_MS = 1_000;
const CLUSTERS_EVERY_MS = 5_000;
const DECISIONS_PER_STATUS = 3;

export class PlainView implements View {
  readonly #output: Output;
  #shownMs = Number.NEGATIVE_INFINITY;
  #clustersShownMs = Number.NEGATIVE_INFINITY;
  #shownDecisionCount = 0;
  #shownTransfers: ReadonlySet<string> = new Set();

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
    this.#transfers(scene);
    const unmet = scene.unmet.map(({ priorityClass, count }) => `${priorityClass} ${count}`);
    this.line(
      `${clock(scene.elapsedMs)}  ${statesText(scene)}  ${dollarsText(scene.dollarsPerHour)}  ` +
        `${scene.shards.map(ownerText).join(', ')}  unmet: ${unmet.join(', ')}`,
    );
    this.#clusters(scene);
  }

  close(): void {}

  #clusters({ elapsedMs, clusters, providers }: Scene): void {
    if (elapsedMs - this.#clustersShownMs < CLUSTERS_EVERY_MS) return;
    this.#clustersShownMs = elapsedMs;
    for (const provider of providers) this.line(`  ${providerText(provider)}`);
    for (const cluster of clusters) this.line(`  ${cluster.id}: ${clusterText(cluster)}`);
  }

  /** A transfer that takes a step has another text. */
  #transfers({ transfers }: Scene): void {
    const texts = transfers.map(transferText);
    for (const text of texts) if (!this.#shownTransfers.has(text)) this.line(`  ${text}`);
    this.#shownTransfers = new Set(texts);
  }

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

// On a terminal: one screen, redrawn in place on the alternate buffer, so that the shell's history is
// untouched when it closes. Lines are cut, never wrapped: a wrapped line shifts the whole screen.

import type { Output, View } from './output.ts';
import type { Scene } from './scene.ts';
import { clock, decisionText, dollarsText, ownerText, statesText, transferText } from './words.ts';

const ENTER = '\x1b[?1049h\x1b[?25l';
const LEAVE = '\x1b[?25h\x1b[?1049l';
const HOME = '\x1b[H';
const CLEAR_LINE = '\x1b[K';
const CLEAR_BELOW = '\x1b[J';
const DECISIONS = 8;
const NOTES = 4;
const TRANSFERS = 4;

export class TerminalView implements View {
  readonly #output: Output;
  readonly #deeper: readonly string[];
  #notes: readonly string[] = [];
  #isOpen = false;

  /** `deeper`: commands that show more. */
  constructor(output: Output, deeper: readonly string[]) {
    this.#output = output;
    this.#deeper = deeper;
  }

  line(text: string): void {
    if (!this.#isOpen) this.#output.write(`${text}\n`);
    else this.#notes = [...this.#notes, text].slice(-NOTES);
  }

  show(scene: Scene): void {
    if (!this.#isOpen) this.#output.write(ENTER);
    this.#isOpen = true;
    const lines = [...screenOf(scene), ...this.#notes, '', 'Look deeper:', ...this.#deeper];
    const cut = lines.map((line) => `${line.slice(0, this.#output.columns)}${CLEAR_LINE}\n`);
    this.#output.write(`${HOME}${cut.join('')}${CLEAR_BELOW}`);
  }

  close(): void {
    if (this.#isOpen) this.#output.write(LEAVE);
    this.#isOpen = false;
  }
}

function screenOf(scene: Scene): readonly string[] {
  const { seed, elapsedMs, dollarsPerHour, shards, transfers, clusters, unmet, decisions } = scene;
  return [
    `BigFleet  ${clock(elapsedMs)}  ${dollarsText(dollarsPerHour)}  ` +
      `seed ${seed}  (Ctrl-C stops everything)`,
    '',
    `Machines   ${statesText(scene)}`,
    ...shards.map(
      (shard) => `Shard      ${ownerText(shard)}  cycle ${shard.cycle}  ${statesText(shard)}`,
    ),
    ...transfers.slice(-TRANSFERS).map((transfer) => `Moved      ${transferText(transfer)}`),
    '',
    ...clusters.map(
      ({ id, shard, isConnected, podCount, nodeCount }) =>
        `Cluster    ${id.padEnd(10)} ${String(podCount).padStart(4)} pods  ` +
        `${String(nodeCount).padStart(3)} nodes  ${isConnected ? `at ${shard}` : 'not connected'}`,
    ),
    '',
    ...unmet.map(
      ({ priorityClass, count, examples }) =>
        `Unmet      ${priorityClass.padEnd(10)} ${String(count).padStart(4)}  ${examples.join('; ')}`,
    ),
    '',
    'Last decisions:',
    ...decisions.slice(-DECISIONS).map((decision) => `  ${decisionText(decision)}`),
    '',
  ];
}

// On a terminal: one screen, redrawn in place on the alternate buffer, so that the shell's history is
// untouched when it closes. It fits the window, also one of 80 by 24: a line too many would scroll the
// states and the money out of sight, a wrapped one shifts everything below it. What matters most is
// kept: the fleet, then the newest decisions, then notes, then the commands that show more.

import type { Output, View, Scene } from './scene.ts';
import {
  clock,
  clusterText,
  dollarsText,
  ownerText,
  shortDecisionText,
  statesText,
  transferText,
} from './words.ts';

const ENTER = '\x1b[?1049h\x1b[?25l';
const LEAVE = '\x1b[?25h\x1b[?1049l';
const HOME = '\x1b[H';
const CLEAR_LINE = '\x1b[K';
const CLEAR_BELOW = '\x1b[J';
const DECISIONS = 8;
const DECISIONS_AT_LEAST = 2;
const NOTES = 4;
const TRANSFERS = 4;

export class TerminalView implements View {
  readonly #output: Output;
  readonly #commands: readonly (readonly string[])[];
  #notes: readonly string[] = [];
  #isOpen = false;

  /** `commands`: groups of them with a heading each, the most useful last. */
  constructor(output: Output, commands: readonly (readonly string[])[]) {
    this.#output = output;
    this.#commands = commands;
  }

  line(text: string): void {
    if (!this.#isOpen) this.#output.write(`${text}\n`);
    else this.#notes = [...this.#notes, text].slice(-NOTES);
  }

  show(scene: Scene): void {
    if (!this.#isOpen) this.#output.write(ENTER);
    this.#isOpen = true;
    const { columns, rows } = this.#output;
    const cut = this.#screen(scene, rows).map((line) => `${line.slice(0, columns)}${CLEAR_LINE}`);
    // No newline behind the last one: it would scroll the first away.
    this.#output.write(`${HOME}${cut.slice(0, rows).join('\n')}${CLEAR_BELOW}`);
  }

  close(): void {
    if (this.#isOpen) this.#output.write(LEAVE);
    this.#isOpen = false;
  }

  #screen(scene: Scene, rows: number): readonly string[] {
    const head = [...fleetOf(scene), 'Last decisions:'];
    const room = Math.max(DECISIONS_AT_LEAST, Math.min(DECISIONS, rows - head.length));
    const decisions = scene.decisions.slice(-room);
    const lines = [...head, ...decisions.map((decision) => `  ${shortDecisionText(decision)}`)];
    const notes = this.#notes.length === 0 ? [] : ['', ...this.#notes];
    const groups = this.#commands.toReversed().map((group) => ['', ...group]);
    for (const part of [notes, ...groups]) {
      if (lines.length + part.length <= rows) lines.push(...part);
    }
    return lines;
  }
}

function fleetOf(scene: Scene): readonly string[] {
  const { seed, elapsedMs, dollarsPerHour, shards, transfers, clusters, unmet } = scene;
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
    ...clusters.map((cluster) => {
      const { id, shard, isConnected } = cluster;
      const text = clusterText(cluster);
      return `Cluster    ${id.padEnd(10)} ${isConnected ? '' : 'not connected: '}${text}  ${shard}`;
    }),
    '',
    ...unmet.map(
      ({ priorityClass, count, examples }) =>
        `Unmet      ${priorityClass.padEnd(10)} ${String(count).padStart(4)}  ${examples.join('; ')}`,
    ),
    '',
  ];
}

// On a terminal: one screen, redrawn in place on the alternate buffer, so that the shell's history is
// untouched when it closes. It fits the window, also one of 80 by 24: a line too many would scroll the
// states and the money out of sight, a wrapped one shifts everything below it. What matters most is
// kept: the fleet, what to try, the newest note, the newest decisions; then older notes, then commands.

import type { ClusterScene, Output, Scene, View } from './scene.ts';
import {
  clock,
  clusterText,
  dollarsText,
  ownerText,
  providerText,
  shortDecisionText,
  shortTransferText,
  statesText,
} from './words.ts';

const ENTER = '\x1b[?1049h\x1b[?25l';
const LEAVE = '\x1b[?25h\x1b[?1049l';
const HOME = '\x1b[H';
const CLEAR_LINE = '\x1b[K';
const CLEAR_BELOW = '\x1b[J';
const DECISIONS = 8;
const DECISIONS_AT_LEAST = 2;
const NOTES = 4;

export interface TerminalCommands {
  /** What to try, in one line: always there. */
  readonly short: string;
  /** Groups of commands with a heading each, the most useful first: each is shown where it has room. */
  readonly groups: readonly (readonly string[])[];
}

/** How much of what grows with the fleet is shown. */
interface Density {
  readonly transfers: number;
  readonly clusters: number;
  readonly hasGaps: boolean;
}

/** The first that fits the window is taken. */
const DENSITIES: readonly Density[] = [
  { transfers: 4, clusters: Number.POSITIVE_INFINITY, hasGaps: true },
  { transfers: 2, clusters: Number.POSITIVE_INFINITY, hasGaps: true },
  { transfers: 1, clusters: Number.POSITIVE_INFINITY, hasGaps: false },
  { transfers: 1, clusters: 3, hasGaps: false },
];

export class TerminalView implements View {
  readonly #output: Output;
  readonly #commands: TerminalCommands;
  #notes: readonly string[] = [];
  #isOpen = false;

  constructor(output: Output, commands: TerminalCommands) {
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
    const heads = DENSITIES.map((density) => [
      ...fleetOf(scene, density),
      `Try        ${this.#commands.short}`,
      ...this.#notes.slice(-1).map((note) => `Note       ${note}`),
      'Last decisions:',
    ]);
    const head = heads.find(({ length }) => length + DECISIONS_AT_LEAST <= rows) ?? heads.at(-1);
    const lines = [...(head ?? [])];
    const room = Math.max(DECISIONS_AT_LEAST, Math.min(DECISIONS, rows - lines.length));
    const decisions = scene.decisions.slice(-room);
    lines.push(...decisions.map((decision) => `  ${shortDecisionText(decision)}`));
    const notes = this.#notes.length < 2 ? [] : ['', 'Notes:', ...this.#notes.map(indented)];
    const groups = this.#commands.groups.map((group) => ['', ...group]);
    for (const part of [notes, ...groups]) {
      if (lines.length + part.length <= rows) lines.push(...part);
    }
    return lines;
  }
}

function indented(line: string): string {
  return `  ${line}`;
}

function fleetOf(scene: Scene, density: Density): readonly string[] {
  const { seed, elapsedMs, dollarsPerHour, shards, transfers, clusters, unmet } = scene;
  const gap = density.hasGaps ? [''] : [];
  return [
    `BigFleet  ${clock(elapsedMs)}  ${dollarsText(dollarsPerHour)}  ${scene.dashboardUrl}  ` +
      `Ctrl-C stops  seed ${seed}`,
    ...gap,
    `Machines   ${statesText(scene)}`,
    `Providers  ${scene.providers.map(providerText).join('  ')}`,
    ...shards.map(
      (shard) => `Shard      ${ownerText(shard)}  cycle ${shard.cycle}  ${statesText(shard)}`,
    ),
    ...transfers
      .slice(-density.transfers)
      .map((transfer) => `Moved      ${shortTransferText(transfer)}`),
    ...gap,
    ...clusterLines(clusters, density.clusters),
    ...gap,
    ...unmet.map(
      ({ priorityClass, count, examples }) =>
        `Unmet      ${priorityClass.padEnd(10)} ${String(count).padStart(4)}  ${examples.join('; ')}`,
    ),
    ...gap,
  ];
}

/** Those beyond the limit in one line. */
function clusterLines(clusters: readonly ClusterScene[], limit: number): readonly string[] {
  const isCut = clusters.length > limit;
  const shown = isCut ? clusters.slice(0, limit - 1) : clusters;
  const rest = clusters.slice(shown.length);
  const running = rest.reduce((sum, { runningCount }) => sum + runningCount, 0);
  const pending = rest.reduce((sum, { pendingCount }) => sum + pendingCount, 0);
  return [
    ...shown.map((cluster) => {
      const { id, shard, isConnected } = cluster;
      const text = clusterText(cluster);
      return `Cluster    ${id.padEnd(10)} ${isConnected ? '' : 'not connected: '}${text}  ${shard}`;
    }),
    ...(isCut ? [`Cluster    ${rest.length} more: ${running}/${running + pending} Pods run`] : []),
  ];
}

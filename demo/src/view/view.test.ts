// Proves what both views show of one scene: states, money, who owns what and what moves, providers, unmet
// demand by priority and decisions with their reason; on a terminal cut to its width and put back afterwards.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import type { NeedView } from '@bigfleet/wire';
import { FleetPicture } from '../feed/fleet-picture.ts';
import { type NeedSketch, snapshot } from '../feed/testing/frames.ts';
import { defaultPorts } from '../ports/ports.ts';
import { PROFILE_NAMES, profiles } from '../profiles.ts';
import { deeperCommands } from './deeper.ts';
import { kubectlCommands } from './kubectl.ts';
import { PlainView } from './plain-view.ts';
import { type Output, type Scene, unmetByPriority } from './scene.ts';
import { TerminalView } from './terminal-view.ts';
import { castText, tryCommands, tryLine } from './try.ts';

class Captured implements Output {
  readonly isTerminal: boolean = false;
  readonly columns: number;
  readonly rows: number;
  text = '';

  constructor(columns = 200, rows = 50) {
    this.columns = columns;
    this.rows = rows;
  }

  write(text: string): void {
    this.text += text;
  }

  get lines(): readonly string[] {
    return this.text.trimEnd().split('\n');
  }
}

const decision = {
  cycle: 7,
  kind: 'Provision',
  machineId: 'sim-north/Spot/m6i.large/zone-a/003',
  cluster: 'web-eu',
  dollarsPerHour: 0.0336,
  reason: 'phase1.speculative: No idle machine covered the need.',
};

const cluster = {
  id: 'web-eu',
  shard: 'shard-0',
  isConnected: true,
  runningCount: 30,
  pendingCount: 1,
  requestCount: 31,
  acknowledgedCount: 28,
  nodeCount: 12,
  upcomingCount: 2,
};

const shard = {
  name: 'shard-0',
  isServing: true,
  cycle: 9,
  machinesByState: { Speculative: 300, Configured: 2 },
};

function scene(changes: Partial<Scene> = {}): Scene {
  return {
    seed: '7',
    dashboardUrl: 'http://127.0.0.1:8760',
    providers: [
      { name: 'sim-north', count: 936, servingCount: 31, idleCount: 3 },
      { name: 'sim-metal', count: 36, servingCount: 4, idleCount: 8 },
    ],
    elapsedMs: 65_000,
    machinesByState: { Speculative: 700, Creating: 0, Configured: 42 },
    shards: [shard],
    transfers: [],
    dollarsPerHour: 123.456,
    clusters: [{ ...cluster, isConnected: false }],
    unmet: [{ priorityClass: 'batch', count: 1, examples: ['train-us lacks 64 cpu: no_supply'] }],
    decisions: [decision],
    decisionCount: 1,
    ...changes,
  };
}

test('a plain status line says it all in one line, and a line follows for each cluster', () => {
  const output = new Captured();
  new PlainView(output).show(scene());
  assert.deepEqual(output.lines, [
    '  cycle 7  Provision sim-north/Spot/m6i.large/zone-a/003 for web-eu  $0.03/h  ' +
      'phase1.speculative: No idle machine covered the need.',
    '01:05  Speculative 700  Configured 42  $123.46/h  shard-0 owns 302  unmet: batch 1',
    '  sim-north: 31 serve, 3 idle of 936',
    '  sim-metal: 4 serve, 8 idle of 36',
    '  web-eu: 30/31 Pods run  28/31 acknowledged  12 +2 nodes',
  ]);
});

test('plain lines come at most once a second, with each decision once and a count of the rest', () => {
  const output = new Captured();
  const view = new PlainView(output);
  view.show(scene());
  view.show(scene({ elapsedMs: 65_250 }));
  assert.equal(output.lines.length, 5);
  view.show(scene({ elapsedMs: 66_000 }));
  assert.equal(output.lines.length, 6);
  const many = Array.from({ length: 12 }, () => decision);
  view.show(scene({ elapsedMs: 67_000, decisions: many, decisionCount: 31 }));
  assert.deepEqual(output.lines.slice(6, 7), ['  … and 27 more decisions']);
  assert.equal(output.lines.length, 6 + 1 + 3 + 1);
  view.show(scene({ elapsedMs: 70_000, decisions: many, decisionCount: 31 }));
  assert.match(output.lines.at(-1) ?? '', /^ {2}web-eu: 30\/31 Pods run/);
});

test('each step of a transfer is one plain line', () => {
  const output = new Captured();
  const view = new PlainView(output);
  const moving = { id: 't-1', from: 'shard-1', to: 'shard-0', machineCount: 1 };
  const show = (elapsedMs: number, phase: 'COMMITTED' | 'DONE'): void =>
    view.show(scene({ elapsedMs, decisionCount: 0, transfers: [{ ...moving, phase }] }));
  show(1_000, 'COMMITTED');
  show(2_000, 'COMMITTED');
  show(3_000, 'DONE');
  assert.deepEqual(
    output.lines.filter((line) => line.includes('transfer')),
    ['COMMITTED', 'DONE'].map(
      (phase) => `  transfer t-1: 1 machine from shard-1 to shard-0  ${phase}`,
    ),
  );
});

test('the terminal shows everything, cut to its width, and gives the screen back', () => {
  const output = new Captured(60);
  const groups = [['  curl -s http://127.0.0.1:8780/metrics']];
  const view = new TerminalView(output, { short: 'make try-scale', groups });
  view.line('before the first scene lines are plain');
  view.show(scene());
  view.line('a note');
  view.show(scene());
  view.close();
  view.close();
  for (const shown of [
    /Configured 42/,
    /\$123\.46\/h/,
    /shard-0 owns 302  cycle 9/,
    /web-eu {5}not connected: 30\/31 Pods run/,
    /no_supply/,
    /Note {7}a note/,
    /Try {8}make try-scale/,
    /http:\/\/127\.0\.0\.1:8760/,
  ]) {
    assert.match(output.text, shown);
  }
  assert.match(output.text, /curl -s/);
  const plain = output.text
    .replaceAll('\x1b[H', '\n')
    .split('\x1b')
    .map((part) => part.replace(/^\[[?\d;]*[A-Za-z]/, ''))
    .join('');
  assert.ok(plain.split('\n').every((line) => line.length <= 60));
  assert.equal(output.text.split('\x1b[?1049h').length, 2);
  assert.ok(output.text.endsWith('\x1b[?25h\x1b[?1049l'));
});

/** The last screen, without the sequences that draw it. */
function lastScreen({ text }: Captured): readonly string[] {
  const drawn = text.slice(text.lastIndexOf('\x1b[H') + '\x1b[H'.length);
  return drawn.replaceAll('\x1b[K', '').replaceAll('\x1b[J', '').split('\n');
}

test('80 by 24: states, money, unmet demand and the newest decisions with their reason', () => {
  const output = new Captured(80, 24);
  const view = new TerminalView(output, { short: tryLine(), groups: [['  a command']] });
  const transfer = { id: 't', from: 'a', to: 'b', machineCount: 1, phase: 'DONE' } as const;
  const unmet = (['critical', 'service', 'batch'] as const).map((priorityClass) => ({
    priorityClass,
    count: 0,
    examples: [],
  }));
  view.show(scene());
  view.line('an older note');
  view.line('a note');
  view.show(
    scene({
      shards: [shard, { ...shard, isServing: false }],
      clusters: [cluster, cluster, cluster],
      transfers: Array.from({ length: 6 }, () => transfer),
      unmet,
      decisions: Array.from({ length: 30 }, (_, cycle) => ({ ...decision, cycle })),
    }),
  );
  const screen = lastScreen(output);
  assert.ok(screen.length <= 24, `${screen.length} lines`);
  assert.match(
    screen[0] ?? '',
    /^BigFleet {2}01:05 {2}\$123\.46\/h {2}http:\/\/127\.0\.0\.1:8760 /,
  );
  assert.match(screen[2] ?? '', /^Machines {3}Speculative 700 {2}Configured 42/);
  assert.equal(screen.filter((line) => line.startsWith('Unmet')).length, 3);
  const shown = screen.filter((line) => line.startsWith('Cluster'));
  assert.deepEqual([shown.length, shown[0]?.endsWith('  shard-0')], [3, true]);
  const providers = 'sim-north: 31 serve, 3 idle of 936  sim-metal: 4 serve, 8 idle of 36';
  assert.equal(screen[3], `Providers  ${providers}`);
  assert.ok(screen.some((line) => line.startsWith('Shard      shard-0 is down, owned 302')));
  assert.ok(screen.includes(`Try        ${tryLine()}`), 'what to try is never cut');
  assert.ok(screen.includes('Note       a note'));
  assert.match(screen[0] ?? '', /Ctrl-C stops {2}seed 7$/);
  const moved = screen.find((line) => line.startsWith('Moved'));
  assert.match(moved ?? '', /^Moved {6}1 machine from a to b {2}DONE/);
  assert.match(screen.at(-1) ?? '', /^ {2}cycle 29 Provision for web-eu .*phase1\.speculative: No/);
});

test('a tall window has room for the commands, and a tiny one loses lines from the end only', () => {
  const tall = new Captured(80, 60);
  const groups = [
    ['Try:', '  another'],
    ['Look:', '  a command'],
  ];
  new TerminalView(tall, { short: 'make try-scale', groups }).show(scene());
  const screen = lastScreen(tall);
  assert.ok(screen.includes('  a command'));
  assert.ok(screen.indexOf('Try:') < screen.indexOf('Look:'), 'the most useful comes first');
  const tiny = new Captured(20, 3);
  new TerminalView(tiny, { short: 'make try-scale', groups }).show(scene());
  assert.deepEqual(lastScreen(tiny), [
    'BigFleet  01:05  $12',
    'Machines   Speculati',
    'Providers  sim-north',
  ]);
});

test('many clusters leave room for decisions in 80 by 24: the rest is one line', () => {
  const output = new Captured(80, 24);
  const view = new TerminalView(output, { short: tryLine(), groups: [] });
  const unmet = (['critical', 'service', 'batch'] as const).map((priorityClass) => ({
    priorityClass,
    count: 0,
    examples: [],
  }));
  const decisions = Array.from({ length: 30 }, (_, cycle) => ({ ...decision, cycle }));
  const clusters = Array.from({ length: 20 }, (_, at) => ({ ...cluster, id: `c-${at}` }));
  view.show(scene({ shards: [shard, shard], clusters, unmet, decisions }));
  const screen = lastScreen(output);
  assert.ok(screen.length <= 24);
  const shown = screen.filter((line) => line.startsWith('Cluster'));
  assert.deepEqual([shown.length, shown.at(-1)], [3, 'Cluster    18 more: 540/558 Pods run']);
  assert.match(screen.at(-1) ?? '', /^ {2}cycle 29 Provision/);
});

test('the five things to try fit a line each, and all of them one', () => {
  const lines = tryCommands();
  assert.equal(lines.length, 5);
  for (const line of [...lines, `Try        ${tryLine()}`]) assert.ok(line.length <= 80, line);
  assert.match(lines[0] ?? '', /^ {2}make (?:-C \S+ )?try-scale {2}# /);
});

test('what runs is said in a sentence', () => {
  assert.equal(
    castText(profiles.small, false),
    'a coordinator, two shards, two simulated providers, three Kubernetes clusters, a dashboard',
  );
  assert.equal(
    castText(profiles.tiny, true),
    'a coordinator on three etcd members, one shard, two simulated providers, ' +
      'one Kubernetes cluster, a dashboard',
  );
});

test('unmet demand is counted by priority class, with what is missing and why', () => {
  const unmet = (priority: number, cluster: string): NeedSketch => ({
    cluster,
    fingerprint: `${cluster}-${priority}`,
    priority,
    satisfied: false,
    lacks: { cpu: '4' },
    reasonCode: 'no_matching_supply',
  });
  const needs = needsOf([
    unmet(1_000_000, 'web-eu'),
    unmet(100, 'batch-us'),
    unmet(0, 'train-us'),
    { cluster: 'web-eu', fingerprint: 'met', priority: 1_000 },
  ]);
  assert.deepEqual(
    unmetByPriority(needs).map(({ priorityClass, count }) => [priorityClass, count]),
    [
      ['critical', 1],
      ['service', 0],
      ['batch', 2],
    ],
  );
  assert.deepEqual(unmetByPriority(needs)[0]?.examples, ['web-eu lacks 4 cpu: no_matching_supply']);
});

function needsOf(sketches: readonly NeedSketch[]): readonly NeedView[] {
  const picture = new FleetPicture();
  for (const part of snapshot([], sketches)) picture.apply(part);
  return [...picture.needs.values()];
}

test('the commands that show more name the coordinator only where it is not the usual one', () => {
  const usual = deeperCommands('/d', defaultPorts).filter((line) => line.includes('bigfleetctl'));
  const moved = deeperCommands('/d', { ...defaultPorts, coordinator: 17_790 });
  assert.ok(usual.length > 4);
  for (const line of usual) assert.match(line, /^ {2}\S*bin\/bigfleetctl [a-z]/);
  for (const [at, line] of usual.entries()) {
    assert.equal(
      moved[at],
      line.replace('bigfleetctl', 'bigfleetctl --coordinator=127.0.0.1:17790'),
    );
    assert.ok(line.length <= 80, line);
  }
});

test('what to type at the clusters fits a line and names files that are there', () => {
  const all = PROFILE_NAMES.map((name) =>
    kubectlCommands('/tmp/bigfleet-up-abcdef', profiles[name]),
  );
  for (const [first] of all) {
    assert.equal(first, '  export KUBECONFIG=/tmp/bigfleet-up-abcdef/kubeconfig');
  }
  for (const line of all.flat()) {
    assert.ok(line.length <= 80, line);
    const [, file] = /-f (\S+)/.exec(line) ?? [];
    if (file !== undefined) assert.ok(existsSync(file), file);
  }
});

// The SIGKILL law of the shard: however often and whenever it is killed under load, the next life
// finds every machine as its provider has it, covers demand exactly again, does nothing twice, and
// does nothing at all where nothing was left to do. A round starts a fresh fleet, so that kills
// keep falling into creates too.

import assert from 'node:assert/strict';
import { createRandom, type Random } from '@bigfleet/base';
import { monotonicMs } from '../../toolkit/index.ts';
import type { ShardProcess } from '../shard-process.ts';
import { kill, KillStage } from './stage.ts';

const KILLS_PER_ROUND = 10;
const MAX_LOAD_MS = 900;
const MAX_START_MS = 900;
const MAX_WANTED = 20;

type KillKind = 'under load' | 'at rest' | 'while starting';

export interface KillLoopOptions {
  readonly kills: number;
  readonly seed: string;
  /** No further kill is begun after this. */
  readonly withinMs?: number;
}

export interface KillLoopReport {
  killCount: number;
  effectCount: number;
  /** Kills after which the next life still had something to do: they hit work under way. */
  interruptedCount: number;
}

export async function runKillLoop(options: KillLoopOptions): Promise<KillLoopReport> {
  const random = createRandom(options.seed);
  const deadlineMs = monotonicMs() + (options.withinMs ?? Number.POSITIVE_INFINITY);
  const report: KillLoopReport = { killCount: 0, effectCount: 0, interruptedCount: 0 };
  while (report.killCount < options.kills && monotonicMs() < deadlineMs) {
    await using stage = await KillStage.start();
    const left = Math.min(KILLS_PER_ROUND, options.kills - report.killCount);
    let kind: KillKind = 'at rest';
    for (let count = 0; count < left && monotonicMs() < deadlineMs; count++) {
      await using shard = await nextLife(stage, kind, report);
      kind = kindOf(random);
      await killIn(stage, shard, kind, random);
      report.killCount += 1;
    }
    await using _ = await nextLife(stage, kind, report);
    report.effectCount += stage.effects().length;
  }
  return report;
}

/** Starts the shard after a kill and holds it to the law. */
async function nextLife(
  stage: KillStage,
  kind: KillKind,
  report: KillLoopReport,
): Promise<ShardProcess> {
  const before = stage.effects().length;
  const shard = await stage.startShard();
  await stage.recovered(shard);
  const added = stage.effects().slice(before);
  if (kind !== 'under load') assert.deepEqual(added, [], 'it acted although all was well');
  else if (added.length > 0) report.interruptedCount += 1;
  return shard;
}

async function killIn(
  stage: KillStage,
  shard: ShardProcess,
  kind: KillKind,
  random: Random,
): Promise<void> {
  if (kind === 'under load') {
    changeDemand(stage, random);
    await stage.work(random.float() * MAX_LOAD_MS);
  }
  await kill(shard.process);
  if (kind === 'while starting') await stage.killWhileStarting(random.float() * MAX_START_MS);
}

function kindOf(random: Random): KillKind {
  const draw = random.below(6);
  return draw === 0 ? 'at rest' : draw === 1 ? 'while starting' : 'under load';
}

/** Mostly more, so that there is something to create until the round ends. */
function changeDemand(stage: KillStage, random: Random): void {
  for (const at of stage.operators.keys()) {
    const isShrinking = random.below(3) === 0;
    const most = isShrinking ? stage.wantedOf(at) : MAX_WANTED;
    stage.want(at, random.below(most + 1));
  }
}

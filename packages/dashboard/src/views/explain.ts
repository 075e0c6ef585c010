// Explain: why this, why not that? The shard answers from its records; the rows of the subject as they
// stand and what was recorded about it are added here. Without the shard, the newest record that is kept
// and mentions the subject is explained by the engine's own function.

import { err, ok, type Result } from '@bigfleet/base';
import {
  type CycleDispositions,
  decodeDispositions,
  decodeRecord,
  type DecisionRecord,
  explain,
  explainDispositions,
  type ExplainSubject,
} from '@bigfleet/engine';
import type { Answer, Decision, NeedRef, Params, Problem } from '../api/index.ts';
import type { ExplainFacts } from '../facts.ts';
import type { KeptRecord } from '../mirror/decision-log.ts';
import { needKey } from '../mirror/need-table.ts';
import type { ShardWorld, World } from '../mirror/world.ts';
import { endOf, frameOf, type ViewContext } from './context.ts';
import { machineRowOf, needRows } from './rows.ts';
import { candidateOf } from './record.ts';
import { reasonText } from './words.ts';

const HISTORY_SHOWN = 100;

type Subject = Answer<'explain'>['subject'];

interface Found {
  readonly subject: Subject;
  readonly shard: string;
}

export async function explainView(
  world: World,
  params: Params<'explain'>,
  context: ViewContext,
): Promise<Result<Answer<'explain'>, Problem>> {
  const found = await findSubject(world, params, context);
  if (!found.ok) return found;
  const { subject, shard } = found.value;
  const history = historyOf(world, context, subject);
  const cycle = params.cycle > 0 ? params.cycle : pastCycle(world, shard, history);
  const asked = await context.outside.explain({
    shard,
    subject: subject.kind === 'machine' ? { machine: subject.name } : { need: subject.name },
    cycle,
    withCounterfactuals: params.counterfactuals === '1',
  });
  const told = asked.ok ? asked.value : fromKept(context, subject, history);
  if (told === undefined) return asked.ok ? err(nothingTold) : asked;
  return ok({
    frame: frameOf(world, context),
    subject,
    shard,
    ...told,
    reasonText: reasonText(told.reason),
    history: history.slice(0, HISTORY_SHOWN),
  });
}

const nothingTold: Problem = { code: 'record_not_found', message: 'no record mentions it' };

/** Of a past moment: the newest decision about it until then, else the cycle of that moment. */
function pastCycle(world: World, shard: string, history: readonly Decision[]): number {
  if (!world.isPast) return 0;
  const known = history.find((decision) => decision.shard === shard);
  if (known !== undefined) return known.cycle;
  return world.shards.find(({ mirror }) => mirror.name === shard)?.head.cycle ?? 0;
}

async function findSubject(
  world: World,
  params: Params<'explain'>,
  context: ViewContext,
): Promise<Result<Found, Problem>> {
  if (params.machine !== '') return findMachine(world, params.machine, context);
  if (params.pod !== '') {
    const asked = await context.outside.needOfPod(params.cluster, params.pod);
    return asked.ok ? findNeed(world, asked.value, context) : asked;
  }
  if (params.cluster === '' || params.fingerprint === '') {
    const message =
      'name a machine, or a need by cluster and fingerprint, or a Pod by cluster and pod';
    return err({ code: 'subject_missing', message });
  }
  const { cluster, fingerprint, group } = params;
  return findNeed(world, { cluster, fingerprint, group }, context);
}

function findMachine(world: World, name: string, context: ViewContext): Result<Found, Problem> {
  const id = context.mirror.texts.find(name);
  for (const shard of id < 0 ? [] : world.shards) {
    const slot = slotOf(shard, id, name, world.isPast);
    if (slot < 0) continue;
    const machine = machineRowOf(context, shard, slot);
    return ok({ subject: { kind: 'machine', machine, name }, shard: shard.mirror.name });
  }
  // Gone, but remembered.
  for (const decision of context.mirror.log.newestFirst(endOf(world))) {
    if (decision.machine !== name) continue;
    return ok({ subject: { kind: 'machine', machine: null, name }, shard: decision.shard });
  }
  return err({ code: 'machine_not_found', message: `no shard knows a machine ${name}` });
}

function slotOf(shard: ShardWorld, id: number, name: string, isPast: boolean): number {
  if (!isPast) return shard.mirror.machines.slotOf(name);
  const { columns } = shard;
  for (let slot = 0; slot < columns.length; slot++) {
    if (columns.id[slot] === id && columns.state[slot] !== 0) return slot;
  }
  return -1;
}

function findNeed(world: World, name: NeedRef, context: ViewContext): Result<Found, Problem> {
  const key = needKey(name);
  for (const shard of world.shards) {
    const entry = shard.needs.entries.get(key);
    if (entry === undefined) continue;
    const [need] = needRows(world, context, [{ shard, entry }]);
    return ok({ subject: { kind: 'need', need: need ?? null, name }, shard: shard.mirror.name });
  }
  for (const decision of context.mirror.log.newestFirst(endOf(world))) {
    if (decision.need === null || needKey(decision.need) !== key) continue;
    return ok({ subject: { kind: 'need', need: null, name }, shard: decision.shard });
  }
  const message = `no shard knows such a need of cluster ${name.cluster}`;
  return err({ code: 'need_not_found', message });
}

function historyOf(world: World, context: ViewContext, subject: Subject): readonly Decision[] {
  const key = subject.kind === 'need' ? needKey(subject.name) : '';
  const found: Decision[] = [];
  for (const decision of context.mirror.log.newestFirst(endOf(world))) {
    const isAbout =
      subject.kind === 'machine'
        ? decision.machine === subject.name
        : decision.need !== null && needKey(decision.need) === key;
    if (isAbout) found.push(decision);
    if (found.length === HISTORY_SHOWN) break;
  }
  return found;
}

function fromKept(
  { mirror }: ViewContext,
  subject: Subject,
  history: readonly Decision[],
): ExplainFacts | undefined {
  for (const { shard, epoch, cycle } of history) {
    const kept = mirror.log.recordOf(shard, BigInt(epoch), cycle);
    if (kept === undefined) continue;
    const asked: ExplainSubject =
      subject.kind === 'machine' ? { machineId: subject.name } : { need: subject.name };
    return explainKept(kept, asked);
  }
  return undefined;
}

/** What a record says about the subject; undefined for bytes that cannot be read. */
function explainKept(kept: KeptRecord, subject: ExplainSubject): ExplainFacts | undefined {
  const decoded = decodeRecord(kept.payload);
  if (!decoded.ok) return undefined;
  const fates = kept.dispositions === undefined ? undefined : decodeDispositions(kept.dispositions);
  return explainRecord(kept, decoded.value, fates?.ok === true ? fates.value : undefined, subject);
}

export function explainRecord(
  { epoch, cycle, atMs }: Pick<KeptRecord, 'epoch' | 'cycle' | 'atMs'>,
  record: DecisionRecord,
  dispositions: CycleDispositions | undefined,
  subject: ExplainSubject,
): ExplainFacts {
  const told = explain(record, subject);
  const notes =
    dispositions === undefined ? [] : explainDispositions(record, dispositions, subject);
  const text = [told.text, ...notes.map((note) => note.text)].join(' ');
  const about = { epoch: String(epoch), cycle, atMs, kind: told.kind, text };
  if (told.kind === 'not_mentioned') {
    const none = { candidates: [], displacements: [], counterfactuals: [] };
    return { ...about, ...none, reason: '', isTruncated: false };
  }
  return {
    ...about,
    reason: told.reasonCode,
    candidates: told.candidates.map(candidateOf),
    displacements: told.displacements.map(({ need, machineId, priority, reasonCode }) => ({
      need: { ...need },
      machine: machineId,
      priority,
      reason: reasonCode,
      reasonText: reasonText(reasonCode),
    })),
    counterfactuals: [],
    isTruncated: told.truncated,
  };
}

// Where a judgement differs from what the registry says about its mutant, in words. No problem:
// the mutant was refused, by every behaviour that claims to catch it and, where all were asked, by
// no other.

import type { MutantJudgement } from './judge-mutant.ts';

/** Not one of its named behaviours noticed: the suite would certify this provider. */
export function isSurvivor({ mutant, failed }: MutantJudgement): boolean {
  return !mutant.caughtBy.some((id) => failed.includes(id));
}

export function problemsOf(judgement: MutantJudgement): readonly string[] {
  const { mutant, outcomes, failed, baselineFailed, verdict } = judgement;
  const problems: string[] = [];
  for (const id of mutant.caughtBy) {
    const outcome = outcomes.get(id);
    if (outcome?.kind === 'failed') continue;
    const reason = outcome?.kind === 'skipped' ? ` (${outcome.reason})` : '';
    problems.push(`${id} ${outcome?.kind ?? 'was not asked'}${reason}, but claims to catch it`);
  }
  for (const id of failed) {
    if (!mutant.caughtBy.includes(id)) problems.push(`${id} catches it too: name it`);
  }
  if (baselineFailed.length > 0 !== mutant.isSeenByBaseline) {
    const said = mutant.isSeenByBaseline ? 'notices' : 'does not notice';
    const saw = baselineFailed.join(', ') || 'nothing failed';
    problems.push(`the registry says that the baseline ${said}: ${saw}`);
  }
  if (verdict !== 'FAILED') problems.push(`the verdict is ${verdict}`);
  return problems.map((problem) => `${mutant.name}: ${problem}`);
}

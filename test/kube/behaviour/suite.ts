// One test per scenario: the server speaks the recorded dialogue.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { Dialogue, type Subject } from './dialogue.ts';
import { SCENARIOS } from './scenarios.ts';

export interface SuiteOptions {
  readonly subject: () => Subject;
  readonly skip?: string | false;
  /** Writes the dialogues instead of comparing: for the real server alone. */
  readonly isRecording?: boolean;
}

export function apiServerBehaviours({ subject, skip = false, isRecording }: SuiteOptions): void {
  for (const [name, scenario] of Object.entries(SCENARIOS)) {
    test(`the recorded dialogue on ${name}`, { skip }, async () => {
      const dialogue = new Dialogue(subject());
      await scenario(dialogue);
      const file = new URL(`testdata/${name}.txt`, import.meta.url);
      if (isRecording === true) writeFileSync(file, dialogue.text);
      const recorded = existsSync(file) ? readFileSync(file, 'utf8') : '';
      assert.equal(dialogue.text, recorded);
    });
  }
}

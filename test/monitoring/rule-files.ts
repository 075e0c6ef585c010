// The alerts that ship: PrometheusRule objects of deploy/prometheus, and the same groups as a rule file
// that Prometheus and promtool read. The objects are the one source; nothing else holds a rule.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseYaml } from '@bigfleet/process';

const FOLDER = path.join(import.meta.dirname, '../../deploy/prometheus');

export interface Alert {
  readonly alert: string;
  readonly expr: string;
  /** Fires at once without. */
  readonly for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface RuleObject {
  /** Of the file, without its ending: shard. */
  readonly name: string;
  readonly kind: string;
  readonly objectName: string;
  readonly groups: readonly { readonly name: string; readonly rules: readonly Alert[] }[];
}

export const RULE_OBJECTS: readonly RuleObject[] = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.yaml'))
  .map((file) => {
    const parsed = parseYaml(readFileSync(path.join(FOLDER, file), 'utf8'));
    assert.ok(parsed.ok, `${file}: ${parsed.ok ? '' : parsed.error}`);
    const object = parsed.value as {
      readonly kind: string;
      readonly metadata: { readonly name: string };
      readonly spec: Pick<RuleObject, 'groups'>;
    };
    return {
      name: path.basename(file, '.yaml'),
      kind: object.kind,
      objectName: object.metadata.name,
      groups: object.spec.groups,
    };
  });

function alertsOf({ groups }: RuleObject): readonly Alert[] {
  return groups.flatMap(({ rules }) => rules);
}

export const ALERTS: readonly Alert[] = RULE_OBJECTS.flatMap(alertsOf);

/** Writes each object's groups where Prometheus takes them; returns the files. */
export function writeRuleFiles(dir: string): readonly string[] {
  return RULE_OBJECTS.map(({ name, groups }) => {
    const file = path.join(dir, `${name}-rules.yml`);
    // JSON is YAML too: nothing to escape by hand.
    writeFileSync(file, JSON.stringify({ groups }));
    return file;
  });
}

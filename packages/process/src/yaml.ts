// YAML as configuration files hold it and `-o yaml` prints it; the one file that knows the yaml package.
// Parsing is strict: duplicate keys, tabs and unknown tags are errors, and an alias bomb ends at the
// parser's bound.

import { parseDocument, stringify } from 'yaml';
import { err, ok, type Result } from '@bigfleet/base';

const MAX_ALIASES = 100;

export function yamlText(document: unknown): string {
  return stringify(document, { lineWidth: 0 });
}

/** The error is one line that names the place. */
export function parseYaml(text: string): Result<unknown, string> {
  const document = parseDocument(text, { strict: true, uniqueKeys: true });
  const [problem] = [...document.errors, ...document.warnings];
  if (problem !== undefined) return err(problem.message.split('\n')[0] ?? 'not YAML');
  try {
    return ok(document.toJS({ maxAliasCount: MAX_ALIASES }) as unknown);
  } catch (error) {
    return err(error instanceof Error ? error.message : String(error));
  }
}

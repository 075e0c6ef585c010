// Go's text/template as far as bootstrap templates need it (kubernetes §4.1).

import { executeTemplate } from './execute.ts';
import { FUNCTIONS } from './functions.ts';
import { parseTemplate } from './parse.ts';
import type { Value } from './value.ts';

export { TemplateSyntaxError } from './lex.ts';
export { Struct, TemplateError, TemplateRefusal, type Value } from './value.ts';

/** Throws TemplateSyntaxError; what it returns throws TemplateError. */
export function compileTemplate(text: string): (data: Value) => string {
  const template = parseTemplate(text, FUNCTIONS);
  return (data) => executeTemplate(template, data);
}

// The owner's bootstrap template, read and parsed once, at the start: a template that cannot be used
// refuses the start, where its owner sees it, and not the first machine hours later.

import { readFile } from 'node:fs/promises';
import { BigFleetError, describeThrown } from '@bigfleet/base';
import { compileTemplate, TemplateSyntaxError } from '../template/index.ts';

/** Empty for no file: the renderer then gives the built-in blob of kubernetes §4.1. */
export async function readTemplate(file: string): Promise<string> {
  if (file === '') return '';
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    const problem = `read bootstrap-template-file: ${describeThrown(error)}`;
    throw new BigFleetError('bootstrap_template_invalid', problem, { cause: error });
  });
  // An empty file would count as no template, and its machines would join nothing.
  if (text.trim() === '') fail(file, 'the file is empty');
  try {
    compileTemplate(text);
  } catch (error) {
    if (!(error instanceof TemplateSyntaxError)) throw error;
    fail(file, error.message);
  }
  return text;
}

function fail(file: string, problem: string): never {
  const text = `parse bootstrap-template-file: ${file}: ${problem}`;
  throw new BigFleetError('bootstrap_template_invalid', text);
}

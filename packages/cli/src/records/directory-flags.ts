// What every verb over a records directory takes: where it is and how to print.

import { type Flag, oneOf, text } from '@bigfleet/process/flags';
import { documentLine, documentText } from '../ctl/output/document.ts';

export type OfflineForm = 'text' | 'json' | 'yaml';

export const directoryFlags: {
  readonly 'records-dir': Flag<string>;
  readonly output: Flag<OfflineForm>;
} = {
  'records-dir': text('./data/records', 'Directory that a shard writes its records to.', '<dir>'),
  output: { ...oneOf('text', ['text', 'json', 'yaml'], 'How to print.'), short: 'o' },
};

/** Text as it is; JSON a line, YAML a document, so that several can follow each other. */
export function offlineText(form: OfflineForm, document: unknown, words: () => string): string {
  if (form === 'text') return `${words()}\n`;
  return form === 'json' ? documentLine(document) : `---\n${documentText(document, 'yaml')}`;
}

// Completion for zsh, with a description beside each choice.

import {
  type CompletionFlag,
  type CompletionModel,
  shellQuoted as quoted,
  verbTree,
} from './model.ts';

export function zshCompletion(model: CompletionModel): string {
  const { verbs, globals } = model;
  const tree = verbTree(model);
  const firsts = [...tree.keys()].map((first) => {
    const verb = verbs.find(({ name }) => name === first);
    return described(first, verb?.summary ?? `${(tree.get(first) ?? []).join(', ')}`);
  });
  return `#compdef bigfleetctl
# zsh completion for bigfleetctl; load it with:
#   source <(bigfleetctl completion zsh)

_bigfleetctl() {
  local -a verbs below globals
  local context state line verb
  verbs=(
${firsts.map((each) => `    ${each}`).join('\n')}
  )
  globals=(
${globals.map((flag) => `    ${argument(flag)}`).join('\n')}
  )
  _arguments -C $globals '1:verb:->verb' '*::argument:->rest'
  case $state in
    verb) _describe 'verb' verbs ;;
    rest)
      verb=$words[1]
      case $verb in
${[...tree]
  .filter(([, below]) => below.length > 0)
  .map(([first, below]) => secondWord(first, below, verbs))
  .join('\n')}
      esac
      case $verb in
${verbs.map(({ name, flags, words }) => verbCase(name, flags, words)).join('\n')}
      esac
      ;;
  esac
}

if [ "$funcstack[1]" = "_bigfleetctl" ]; then
  _bigfleetctl "$@"
else
  compdef _bigfleetctl bigfleetctl
fi
`;
}

function secondWord(
  first: string,
  below: readonly string[],
  verbs: CompletionModel['verbs'],
): string {
  const choices = below.map((second) => {
    const verb = verbs.find(({ name }) => name === `${first} ${second}`);
    return described(second, verb?.summary ?? '');
  });
  return `        ${first})
          below=(${choices.join(' ')})
          if (( CURRENT == 2 )); then
            _describe 'verb' below
            return
          fi
          verb="$verb $words[2]"
          shift words
          (( CURRENT-- ))
          ;;`;
}

function verbCase(
  name: string,
  flags: readonly CompletionFlag[],
  words: readonly (readonly string[])[],
): string {
  const wordSpecs = words.map((choices, at) =>
    quoted(`${at + 1}:word:${choices.length === 0 ? '' : `(${choices.join(' ')})`}`),
  );
  const specs = ['$globals', ...flags.map(argument), ...wordSpecs];
  return `        ${quoted(name)}) _arguments ${specs.join(' ')} ;;`;
}

function argument({ name, short, help, takesValue, choices, isFile }: CompletionFlag): string {
  const action = isFile ? '_files' : choices.length === 0 ? '' : `(${choices.join(' ')})`;
  const value = takesValue ? `:value:${action}` : '';
  const text = bracketed(help);
  const long = quoted(`--${name}${takesValue ? '=' : ''}[${text}]${value}`);
  return short === undefined ? long : `${long} ${quoted(`-${short}[${text}]${value}`)}`;
}

function described(word: string, summary: string): string {
  return quoted(`${word}:${summary.replaceAll(':', '\\:')}`);
}

function bracketed(text: string): string {
  return text.replaceAll(/[[\]:]/g, (character) => `\\${character}`);
}

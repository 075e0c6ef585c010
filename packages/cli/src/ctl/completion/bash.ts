// Completion for bash. Bash splits words at `=`, so `--output=j` arrives as three of them; the
// script puts them together again.

import {
  type CompletionFlag,
  type CompletionModel,
  shellQuoted as quoted,
  verbTree,
} from './model.ts';

export function bashCompletion(model: CompletionModel): string {
  const { verbs, globals } = model;
  const tree = verbTree(model);
  const second = [...tree].filter(([, below]) => below.length > 0);
  return `# bash completion for bigfleetctl; load it with:
#   source <(bigfleetctl completion bash)

_bigfleetctl_values() {
  case "$1" in
${valueCases(verbs.flatMap(({ flags }) => flags).concat(globals))}
  esac
}

_bigfleetctl_takes_value() {
  case "$1" in
    ${withValue(verbs.flatMap(({ flags }) => flags).concat(globals))}) return 0 ;;
  esac
  return 1
}

_bigfleetctl_below() {
  case "$1" in
${second.map(([first, below]) => `    ${first}) echo ${quoted(below.join(' '))} ;;`).join('\n')}
  esac
}

_bigfleetctl_flags() {
  case "$1" in
${verbs.map(({ name, flags }) => `    ${quoted(name)}) echo ${quoted(names(flags))} ;;`).join('\n')}
  esac
}

_bigfleetctl_words() {
  case "$1:$2" in
${verbs
  .flatMap(({ name, words }) =>
    words.map(
      (choices, at) => `    ${quoted(`${name}:${at}`)}) echo ${quoted(choices.join(' '))} ;;`,
    ),
  )
  .join('\n')}
  esac
}

_bigfleetctl() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="" verb="" words=0 at word
  [[ $COMP_CWORD -gt 0 ]] && prev="\${COMP_WORDS[COMP_CWORD-1]}"
  if [[ $cur == "=" ]]; then
    cur=""
  elif [[ $prev == "=" ]]; then
    prev="\${COMP_WORDS[COMP_CWORD-2]}"
  fi
  if _bigfleetctl_takes_value "$prev"; then
    case "$(_bigfleetctl_values "$prev")" in
      @file) COMPREPLY=($(compgen -f -- "$cur")) ;;
      *) COMPREPLY=($(compgen -W "$(_bigfleetctl_values "$prev")" -- "$cur")) ;;
    esac
    return
  fi
  for ((at = 1; at < COMP_CWORD; at++)); do
    word="\${COMP_WORDS[at]}"
    if [[ $word == -* ]]; then
      if [[ \${COMP_WORDS[at+1]} == "=" ]]; then
        ((at += 2))
      elif _bigfleetctl_takes_value "$word"; then
        ((at++))
      fi
    elif [[ -z $verb ]]; then
      verb="$word"
    elif [[ -n $(_bigfleetctl_below "$verb") ]]; then
      verb="$verb $word"
    else
      ((words++))
    fi
  done
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$(_bigfleetctl_flags "$verb") ${names(globals)}" -- "$cur"))
  elif [[ -z $verb ]]; then
    COMPREPLY=($(compgen -W ${quoted(`${[...tree.keys()].join(' ')} help`)} -- "$cur"))
  elif [[ -n $(_bigfleetctl_below "$verb") ]]; then
    COMPREPLY=($(compgen -W "$(_bigfleetctl_below "$verb")" -- "$cur"))
  else
    COMPREPLY=($(compgen -W "$(_bigfleetctl_words "$verb" "$words")" -- "$cur"))
  fi
}

complete -o default -F _bigfleetctl bigfleetctl
`;
}

function names(flags: readonly CompletionFlag[]): string {
  return flags.map(({ name }) => `--${name}`).join(' ');
}

function spellings({ name, short }: CompletionFlag): string {
  return short === undefined ? `--${name}` : `--${name}|-${short}`;
}

function withValue(flags: readonly CompletionFlag[]): string {
  const taking = flags.filter(({ takesValue }) => takesValue).map(spellings);
  return [...new Set(taking)].join('|');
}

/** A flag means the same wherever it is taken, as far as its choices go. */
function valueCases(flags: readonly CompletionFlag[]): string {
  const lines = flags
    .filter(({ choices, isFile }) => isFile || choices.length > 0)
    .map((flag) => {
      const values = flag.isFile ? '@file' : flag.choices.join(' ');
      return `    ${spellings(flag)}) echo ${quoted(values)} ;;`;
    });
  return [...new Set(lines)].join('\n');
}
